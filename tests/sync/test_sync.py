"""A full reading of a tenant, over HTTP, from the sandbox and from services that misbehave."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people import queries
from portal.domain.people.models import NEVER, UNREADABLE, Group, Member
from portal.domain.places.models import Area, KeyBox, PassController
from portal.domain.sync import local_writes, long_lists
from portal.domain.sync.models import MirrorState, StagedPage, SyncRun
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import Service, serving


def listed(number: int, **more: Any) -> dict[str, Any]:
    return {"member_id": f"m{number}", "member_name": f"Member {number}", "membergroup_id": "g1", **more}


class Pages:
    """A list of members in pages; a test may change it between two calls."""

    def __init__(self, *pages: list[dict[str, Any]]) -> None:
        self.pages = list(pages)
        self.override: dict[str, tuple[int, Any]] = {}

    def __call__(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path != "/v1/members":
            return 200, {key: [] for key in ("membergroups", "areas", "devices", "key_devices", "guests", "histories")}
        cursor = query.get("last_evaluated_key", "")
        if cursor in self.override:
            return self.override[cursor]
        at = int(cursor or 0)
        more = {"last_evaluated_key": str(at + 1)} if at + 1 < len(self.pages) else {}
        return 200, {"members": self.pages[at], **more}


@pytest.fixture
def paged(customer: MakeCustomer) -> Iterator[tuple[Pages, Service, Customer]]:
    pages = Pages([listed(1), listed(2)], [listed(3), listed(4)])
    with serving(pages) as service:
        yield pages, service, customer(base_url=service.url)


def names(here: Customer) -> set[str]:
    with tenant_scope(here.tenant):
        return set(Member.objects.filter(gone_at=None).values_list("member_id", flat=True))


def test_everything_is_read_with_as_many_calls_as_there_are_pages(customer: MakeCustomer) -> None:
    here = customer(members=2300)
    here.sync()
    assert here.calls(3) == 3
    assert [here.calls(number) for number in (16, 24, 25, 27)] == [1, 1, 1, 1]
    with tenant_scope(here.tenant):
        assert Member.objects.count() == 2300
        for model in (Group, Area, PassController, KeyBox):
            assert model.objects.exists()
        assert not StagedPage.objects.exists()
    assert here.state(MirrorKind.MEMBERS).total == 2300
    assert here.state(MirrorKind.MEMBERS).error == ""


def test_a_second_reading_of_an_unchanged_list_writes_no_row(customer: MakeCustomer) -> None:
    here = customer(members=40)
    here.sync()
    here.sync()
    with tenant_scope(here.tenant):
        first, second = SyncRun.objects.filter(kind=MirrorKind.MEMBERS).order_by("started_at")
    assert (first.changed, second.changed, second.removed) == (40, 0, 0)


def test_a_page_without_changes_costs_few_statements(
    customer: MakeCustomer, django_assert_max_num_queries: Any
) -> None:
    pages = Pages(*([listed(number)] for number in range(60)))
    with serving(pages) as service:
        here = customer(base_url=service.url)
        here.sync()
        here.due_now(MirrorKind.MEMBERS)
        with django_assert_max_num_queries(60 * 18):  # a page opens and ends three transactions
            here.work()
    assert here.state(MirrorKind.MEMBERS).total == 60


def test_changes_and_deletions_at_the_service_arrive(customer: MakeCustomer) -> None:
    here = customer(members=5)
    here.sync()
    with tenant_scope(here.tenant):
        ids = list(Member.objects.order_by("pk").values_list("member_id", flat=True))
    here.api("PUT", f"/v1/members/{ids[0]}", json={"member_name": "新しい 名前", "card_data": "CARD77"})
    here.api("DELETE", f"/v1/members/{ids[1]}")
    here.sync()
    assert names(here) == set(ids) - {ids[1]}
    with tenant_scope(here.tenant):
        changed = Member.objects.get(member_id=ids[0])
        assert (changed.member_name, changed.card_data) == ("新しい 名前", "CARD77")
    assert here.state(MirrorKind.MEMBERS).total == 4


def test_secrets_are_in_no_column_in_clear(customer: MakeCustomer) -> None:
    here = customer(members=30)
    here.api("POST", "/v1/members", json=_canary(here))
    here.sync()
    with tenant_scope(here.tenant):
        row = Member.objects.get(member_name="Canary")
        assert row.card_data == "CANARYCARD123456"
        assert row.qrcode["data"] == "CANARYQRDATA"
    for table in ("people_member", "people_membersearch", "sync_stagedpage", "sync_syncrun"):
        with tenant_scope(here.tenant), database.cursor() as cursor:
            cursor.execute(f"SELECT string_agg(t::text, '') FROM {table} t")
            dump = (cursor.fetchone()[0] or "").upper()
        for hidden in ("CANARYCARD", "CANARYQR", b"CANARYCARD".hex().upper(), b"CANARYQR".hex().upper()):
            assert hidden not in dump, table


def _canary(here: Customer) -> dict[str, Any]:
    group = here.api("GET", "/v1/membergroups")["membergroups"][0]["membergroup_id"]
    return {
        "member_name": "Canary",
        "membergroup_id": group,
        "card_data": "CANARYCARD123456",
        "qrcode": {"data": "CANARYQRDATA"},
    }


def test_a_reading_goes_on_where_its_worker_died(
    paged: tuple[Pages, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, service, here = paged
    monkeypatch.setattr(long_lists, "SLICE_SECONDS", -1)
    here.sync()
    assert names(here) == set()
    with tenant_scope(here.tenant):
        assert SyncRun.objects.get(kind=MirrorKind.MEMBERS).rows == 2
    here.due_now(MirrorKind.MEMBERS)
    here.work()
    assert names(here) == {"m1", "m2", "m3", "m4"}
    assert len([path for path, _ in service.asked if path == "/v1/members"]) == 2


def test_a_worker_that_died_before_the_swap_costs_no_further_call(
    paged: tuple[Pages, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, service, here = paged

    def killed(*args: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(long_lists, "_take_over", killed)
        with pytest.raises(SystemExit):
            here.sync()
    asked = len(service.asked)
    here.due_now(MirrorKind.MEMBERS)
    here.work()
    assert names(here) == {"m1", "m2", "m3", "m4"}
    assert [path for path, _ in service.asked[asked:] if path == "/v1/members"] == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, {"members": [listed(3)], "last_evaluated_key": "1"}), "repeated_cursor"),
        ((200, {"members": "none"}), "unreadable"),
        ((200, {"members": [], "last_evaluated_key": {"id": 7}}), "unreadable"),
        ((200, b"<html>"), "unreadable"),
        ((200, []), ""),
        ((403, {"error_code": "40301"}), "no_scope"),
        ((403, {"error_code": "40377"}), "forbidden 40377"),
        ((400, {"error_code": "40002"}), "refused 40002"),
        ((500, b""), "fault"),
    ],
)
def test_a_list_that_ends_badly_changes_nothing(
    paged: tuple[Pages, Service, Customer], answer: tuple[int, Any], reason: str
) -> None:
    pages, _, here = paged
    here.sync()
    before = names(here)
    pages.pages[0] = [listed(1, member_name="Changed")]
    pages.override["1"] = answer
    here.sync()
    if reason:
        assert names(here) == before
        assert here.state(MirrorKind.MEMBERS).error == reason
        with tenant_scope(here.tenant):
            assert Member.objects.get(member_id="m1").member_name == "Member 1"
    else:
        assert names(here) == {"m1"}


def test_used_up_calls_pause_the_reading_without_an_error(paged: tuple[Pages, Service, Customer]) -> None:
    pages, _, here = paged
    pages.override["1"] = (429, {})
    here.sync()
    state = here.state(MirrorKind.MEMBERS)
    assert state.error == ""
    assert state.due_at is not None
    assert state.due_at > timezone.now() + timedelta(seconds=30)
    with tenant_scope(here.tenant):
        assert SyncRun.objects.get(kind=MirrorKind.MEMBERS).state == SyncRun.State.RUNNING


def test_a_long_list_leaves_calls_to_the_short_ones_and_is_read_less_often(
    paged: tuple[Pages, Service, Customer],
) -> None:
    pages, service, here = paged
    pages.pages = [[listed(number)] for number in range(20)]
    environment = here.connection.tenant.environment
    environment.overrides = "[limits]\ngeneral = 80"
    environment.save()
    here.sync()
    assert len([path for path, _ in service.asked if path == "/v1/members"]) == 18, "92 % of a quarter of 80, less one"
    assert here.state(MirrorKind.AREAS).as_of is not None
    state = here.state(MirrorKind.MEMBERS)
    assert (state.as_of, state.error) == (None, "")
    environment.overrides = ""
    environment.save()
    here.due_now(MirrorKind.MEMBERS)
    here.work()
    assert len(names(here)) == 20
    due_at = here.state(MirrorKind.MEMBERS).due_at
    assert due_at is not None
    assert due_at > timezone.now() + timedelta(minutes=20)


def test_our_own_writes_during_a_reading_win(
    paged: tuple[Pages, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, _, here = paged
    here.sync()
    pages.pages[0][0] = listed(1, member_name="Before ours")
    monkeypatch.setattr(long_lists, "SLICE_SECONDS", -1)
    here.sync()
    with tenant_scope(here.tenant):
        local_writes.apply_member_write(here.tenant, "m1", {"member_name": "Ours"})
        local_writes.apply_member_write(here.tenant, "m9", {"member_name": "New", "membergroup_id": "g1"}, created=True)
        local_writes.apply_member_deletion(here.tenant, "m2")
    here.due_now(MirrorKind.MEMBERS)
    here.work()
    assert names(here) == {"m1", "m3", "m4", "m9"}
    with tenant_scope(here.tenant):
        assert Member.objects.get(member_id="m1").member_name == "Ours"
    assert here.state(MirrorKind.MEMBERS).total == 4
    monkeypatch.undo()
    here.sync()
    assert names(here) == {"m1", "m2", "m3", "m4"}
    with tenant_scope(here.tenant):
        assert Member.objects.get(member_id="m1").member_name == "Before ours"


def test_doors_of_a_service_that_calls_their_fields_otherwise_are_doors(customer: MakeCustomer) -> None:
    listed = {"controllers": [{"id": "d1", "label": "Gate"}, {"id": "d2"}]}
    with serving(lambda path, _query: (200, listed) if path == "/v1/devices/passes" else (404, {})) as service:
        here = customer(base_url=service.url)
        here.tenant.environment.overrides = """
            [shapes]
            pass_list_key = "controllers"
            pass_list_names = { device_id = "id", device_name = "label" }
        """
        here.tenant.environment.save()
        here.sync()
    with tenant_scope(here.tenant):
        names = PassController.objects.order_by("device_id").values_list("device_id", "device_name")
        assert list(names) == [("d1", "Gate"), ("d2", "")]


def test_only_one_worker_reads(paged: tuple[Pages, Service, Customer]) -> None:
    _, service, here = paged
    here.sync()
    asked = len(service.asked)
    with tenant_scope(here.tenant):
        MirrorState.objects.update(due_at=timezone.now(), lease_until=timezone.now() + timedelta(minutes=1))
    here.work()
    assert len(service.asked) == asked


def test_values_that_nobody_described_are_kept(paged: tuple[Pages, Service, Customer]) -> None:
    pages, _, here = paged
    odd = listed(
        1, member_name=None, use_date_end="some day", badge_colour={"hue": [1]}, api_secret="x", member_code=12,
        qrcode={"data": "d", "sparkle": 1, "one_time_qr": {"enabled": True, "totp_seed": "S"}},
    )  # fmt: skip
    pages.pages = [[odd, listed(2, use_date_end="9999-12-31T23:59:59+09:00"), listed(3)]]
    here.sync()
    with tenant_scope(here.tenant):
        row, late, plain = Member.objects.order_by("member_id")
    assert row.extra == {"use_date_end": "some day", "badge_colour": {"hue": [1]}}
    assert (row.member_code, row.use_end_key, plain.use_end_key) == ("12", UNREADABLE, NEVER)
    assert late.extra == {"use_date_end": "9999-12-31T23:59:59+09:00"}
    assert row.qrcode == {"data": "d", "sparkle": 1, "one_time_qr": {"enabled": True}}


def test_a_list_keeps_who_was_seen_and_tells_whose_card_another_has(paged: tuple[Pages, Service, Customer]) -> None:
    pages, _, here = paged
    now = timezone.now()
    pages.pages[0][1]["card_data"] = pages.pages[1][0]["card_data"] = "AB12"
    with tenant_scope(here.tenant):
        for days in (2, 1):
            History.objects.create(history_id=f"h{days}", at=now - timedelta(days=days), member_id="m2")
    here.sync()

    def seen() -> dict[str, Any]:
        with tenant_scope(here.tenant):
            return dict(Member.objects.exclude(last_seen_at=None).values_list("member_id", "last_seen_at"))

    def sharing() -> set[str]:
        with tenant_scope(here.tenant):
            assert {row.pk for row in queries.members_sharing_card()} <= {row.pk for row in queries.members()}
            return set(Member.objects.filter(shares_card=True).values_list("member_id", flat=True))

    assert (seen(), sharing()) == ({"m2": now - timedelta(days=1)}, {"m2", "m3"})
    with tenant_scope(here.tenant):
        local_writes.apply_member_write(here.tenant, "m2", {"member_code": "7"})
        local_writes.apply_member_write(here.tenant, "m4", {"card_data": "ab12"})
        assert sharing() == {"m2", "m3", "m4"}
    pages.pages = [[listed(1), listed(2, card_data="CD34"), listed(3, card_data="AB12"), listed(4, card_data="CD34")]]
    here.sync()
    assert (seen(), sharing()) == ({"m2": now - timedelta(days=1)}, {"m2", "m4"})
