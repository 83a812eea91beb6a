"""The loaded guests: created here or elsewhere, changed, deleted; and services that return less than they should."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.utils import timezone

from accessapi.errors import NotFound
from portal.base.timers.clock import database_now
from portal.domain import events
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.people import queries
from portal.domain.people.models import Guest
from portal.domain.sync import failure_reasons, freshness, local_writes, long_lists, single_reads
from portal.domain.sync.models import MirrorState, SyncRun
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import Service, serving

# A date that is always in the future, and is over when the service's clock moves by sixty days.
DAY = (timezone.now() + timedelta(days=30)).date()
START, END, LATER = f"{DAY}T09:00:00+09:00", f"{DAY}T18:00:00+09:00", f"{DAY}T20:30:00+09:00"


def body(name: str, code: str, **more: Any) -> dict[str, Any]:
    """Return the body that creates a guest."""
    period = {"use_date_start": START, "use_date_end": END}
    return {"guest_name": name, **period, "qrcode_issuing_method": {"qrcode_data": code}, **more}


def guest(here: Customer, guest_id: str) -> Guest:
    with tenant_scope(here.tenant):
        return Guest.objects.get(guest_id=guest_id)


def names(here: Customer) -> set[str]:
    with tenant_scope(here.tenant):
        return set(queries.guests().values_list("guest_name", flat=True))


def again(here: Customer) -> None:
    """Read the list of guests once more."""
    here.due_now(MirrorKind.GUESTS)
    here.work()


def test_a_guest_made_elsewhere_appears_and_leaves_with_the_list(customer: MakeCustomer) -> None:
    here = customer(guests=2)
    here.sync()
    assert len(names(here)) == here.state(MirrorKind.GUESTS).total == 2
    made = here.api("POST", "/v1/guests", json=body("ﾔﾏﾀﾞ 花子", "CANARYQRDATA", email="canary@example.test"))
    again(here)
    row = guest(here, made["guest_id"])
    assert (row.guest_name, row.name_key, row.email) == ("ﾔﾏﾀﾞ 花子", "やまだ花子", "canary@example.test")
    assert (row.use_date_start.isoformat(), row.key_return_date_end) == (f"{DAY}T00:00:00+00:00", row.use_date_end)
    assert (row.qrcode_data, row.detail, row.is_for_reserve) == (None, None, False)
    assert here.state(MirrorKind.GUESTS).total == 3

    here.api("PUT", f"/v1/guests/{made['guest_id']}", json={"use_date_end": LATER, "return_grace_period": 30})
    again(here)
    row = guest(here, made["guest_id"])
    assert row.use_date_end.isoformat() == f"{DAY}T11:30:00+00:00"
    assert row.key_return_date_end - row.use_date_end == timedelta(minutes=30)

    with tenant_scope(here.tenant):
        told = single_reads.read_guest(here.connection, made["guest_id"], Priority.PEOPLE)
    row = guest(here, made["guest_id"])
    assert told.qrcode_data == row.qrcode_data == "CANARYQRDATA"
    assert (row.detail["return_grace_period"], row.detail["area_id_list"]) == (30, [])
    with tenant_scope(here.tenant), database.cursor() as cursor:
        cursor.execute("SELECT string_agg(t::text, '') FROM people_guest t")
        dump = cursor.fetchone()[0].upper()
    for hidden in ("CANARY", b"CANARY".hex().upper(), b"canary@".hex().upper()):
        assert hidden not in dump

    here.sandbox.move_clock(here.there.tenant_id, days=60)
    again(here)
    state = here.state(MirrorKind.GUESTS)
    assert (names(here), state.total, state.error) == (set(), 0, "")
    here.sandbox.move_clock(here.there.tenant_id)


def test_a_thousand_guests_take_two_pages_and_an_unchanged_list_writes_nothing(
    customer: MakeCustomer, django_assert_max_num_queries: Any
) -> None:
    listed = [
        {"guest_id": f"v{n}", "guest_name": f"客 {n}", "email": f"v{n}@example.test",
         "use_date_start": START, "use_date_end": END} for n in range(1200)
    ]  # fmt: skip

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path != "/v1/guests":
            return 404, {}
        at = int(query.get("last_evaluated_key", 0))
        more = {"last_evaluated_key": "1000"} if at == 0 else {}
        return 200, {"guests": listed[at : at + 1000], **more}

    with serving(answer) as service:
        here = customer(base_url=service.url)
        here.sync()
        assert len([path for path, _ in service.asked if path == "/v1/guests"]) == 2
        with tenant_scope(here.tenant):
            assert Guest.objects.count() == here.state(MirrorKind.GUESTS).total == 1200
            MirrorState.objects.exclude(kind=MirrorKind.GUESTS).update(due_at=None)
        listed[7] = {**listed[7], "guest_name": "新しい"}
        here.due_now(MirrorKind.GUESTS)
        with django_assert_max_num_queries(100):
            here.work()
    with tenant_scope(here.tenant):
        run = SyncRun.objects.filter(kind=MirrorKind.GUESTS).latest("pk")
    assert (run.changed, run.removed, guest(here, "v7").email) == (1, 0, "v7@example.test")


class Guests:
    """A service with a list of guests that a test may change."""

    def __init__(self) -> None:
        self.listed = [{"guest_id": "v1", "guest_name": "One", "use_date_start": START, "use_date_end": END}]
        self.first: tuple[int, Any] | None = None
        self.cursor: str | None = None
        self.refuses: set[str] = set()
        self.ignores = False
        self.single: dict[str, Any] = {}

    def __call__(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == f"/v1/guests/{self.single.get('guest_id')}":
            return 200, self.single
        if path != "/v1/guests":
            return 404, {}
        if self.first is not None:
            return self.first
        wanted = set(filter(None, query.get("fields", "").split(",")))
        if wanted & self.refuses:
            return 400, {"error_code": "40002"}
        named = {"guest_id", "guest_name"} | (set() if self.ignores else wanted)
        items = [{name: value for name, value in item.items() if name in named} for item in self.listed]
        return 200, {"guests": items} | ({"last_evaluated_key": self.cursor} if self.cursor else {})


@pytest.fixture
def told(customer: MakeCustomer) -> Iterator[tuple[Guests, Service, Customer]]:
    listed = Guests()
    with serving(listed) as service:
        here = customer(base_url=service.url)
        here.sync()
        service.asked.clear()
        yield listed, service, here


def test_what_we_know_first_hand_wins_over_a_list_that_began_before(
    told: tuple[Guests, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, here = told
    with tenant_scope(here.tenant):
        began = database_now()
        local_writes.apply_guest_write(here.tenant, "v1", {"guest_name": "Ours", "return_grace_period": 45})
        local_writes.apply_guest_write(here.tenant, "v2", body("Made here", "CODE2", area_id_list=["a1"]), created=True)
        local_writes.apply_guest_gone(here.tenant, "v3")
    made = guest(here, "v2")
    assert (made.qrcode_data, made.detail["area_id_list"], made.detail["key_devices_list"]) == ("CODE2", ["a1"], [])
    assert made.key_return_date_end == made.use_date_end
    assert guest(here, "v1").key_return_date_end - guest(here, "v1").use_date_end == timedelta(minutes=45)
    assert here.state(MirrorKind.GUESTS).total == 2

    with monkeypatch.context() as patch:
        patch.setattr(long_lists, "database_now", lambda: began)
        again(here)
    assert names(here) == {"Ours", "Made here"}, "the list was asked for before we wrote"
    again(here)
    assert names(here) == {"One"}, "the next one was asked for afterwards"
    with tenant_scope(here.tenant):
        local_writes.apply_guest_gone(here.tenant, "v1")
        assert (names(here), Guest.objects.count()) == (set(), 1)
    again(here)
    assert (names(here), here.state(MirrorKind.GUESTS).total) == ({"One"}, 1)


def test_a_single_read_asked_before_our_write_does_not_undo_it(told: tuple[Guests, Service, Customer]) -> None:
    _, _, here = told
    with tenant_scope(here.tenant):
        asked = database_now()
        local_writes.apply_guest_write(here.tenant, "v1", {"use_date_end": LATER})
        local_writes.apply_guest_read(
            here.tenant, {"guest_id": "v1", "guest_name": "Before", "use_date_end": END}, asked
        )
    assert guest(here, "v1").use_date_end.isoformat() == f"{DAY}T11:30:00+00:00"


def test_a_guest_that_the_service_does_not_know_is_marked_gone(customer: MakeCustomer) -> None:
    here = customer(guests=1)
    here.sync()
    with tenant_scope(here.tenant):
        guest_id = queries.guests().get().guest_id
        here.sandbox.move_clock(here.there.tenant_id, days=60)
        with pytest.raises(NotFound):
            single_reads.read_guest(here.connection, guest_id, Priority.PEOPLE)
        assert not queries.guests().exists()
    here.sandbox.move_clock(here.there.tenant_id)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, {"guests": "none"}), "unreadable"),
        ((400, {"error_code": "40002"}), "refused 40002"),
        ((500, b""), "fault"),
    ],
)
def test_a_list_that_ends_badly_takes_nobody_away(
    told: tuple[Guests, Service, Customer], answer: tuple[int, Any], reason: str
) -> None:
    listed, _, here = told
    listed.first = answer
    again(here)
    assert (names(here), here.state(MirrorKind.GUESTS).error) == ({"One"}, reason)


def test_a_list_that_turns_in_a_circle_takes_nobody_away(told: tuple[Guests, Service, Customer]) -> None:
    listed, _, here = told
    listed.listed, listed.cursor = [], "round"
    again(here)
    assert (names(here), here.state(MirrorKind.GUESTS).error) == ({"One"}, "repeated_cursor")


def test_a_service_that_refuses_names_is_asked_for_less_and_not_every_time(
    told: tuple[Guests, Service, Customer],
) -> None:
    listed, service, here = told
    listed.refuses = {"key_return_date_end"}
    again(here)
    again(here)
    asked = [query.get("fields") for path, query in service.asked if path == "/v1/guests"]
    assert [len(fields.split(",")) for fields in asked] == [5, 2, 2]
    assert (names(here), here.state(MirrorKind.GUESTS).error) == ({"One"}, "")


def test_a_service_that_ignores_the_parameter_takes_no_date_away(told: tuple[Guests, Service, Customer]) -> None:
    listed, _, here = told
    listed.ignores = True
    listed.listed[0]["guest_name"] = "Renamed"
    again(here)
    assert (names(here), guest(here, "v1").use_date_end.isoformat()) == ({"Renamed"}, f"{DAY}T09:00:00+00:00")


def test_where_the_list_shows_no_dates_the_trickle_reads_them(told: tuple[Guests, Service, Customer]) -> None:
    listed, service, here = told
    listed.ignores = True
    listed.listed.append({"guest_id": "v2", "guest_name": "Two"})
    listed.single = {"guest_id": "v2", "guest_name": "Two", "use_date_end": LATER, "qrcode_data": "CODE2"}
    again(here)
    here.due_now(MirrorKind.RIGHTS)
    here.work()
    here.due_now(MirrorKind.RIGHTS)
    here.work()
    assert [path for path, _ in service.asked if path.startswith("/v1/guests/")] == ["/v1/guests/v2"]
    assert guest(here, "v2").use_date_end is not None


def test_a_tenant_without_the_contract_is_asked_again_only_hours_later_and_told_why(customer: MakeCustomer) -> None:
    here = customer(contracts=["door"], guests=0)
    here.sync()
    state = here.state(MirrorKind.GUESTS)
    assert (state.error, state.as_of) == ("no_contract", None)
    assert state.due_at is not None
    assert state.due_at > timezone.now() + failure_reasons.REFUSED_WAIT / 2
    assert "QR option" in freshness.freshness_of(here.tenant)[MirrorKind.GUESTS].sentence
    assert here.calls(19) == 1


def test_listeners_hear_of_each_reading_and_a_failing_one_spoils_nothing(
    told: tuple[Guests, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, _, here = told
    heard: list[int] = []

    def fails(tenant: Any) -> None:
        Guest.objects.update(guest_name="half done")
        raise ValueError("on purpose")

    def listens(tenant: Any) -> None:
        heard.append(queries.guests().count())

    monkeypatch.setitem(events._listeners, MirrorKind.GUESTS, [])
    events.subscribe(MirrorKind.GUESTS, fails)
    events.subscribe(MirrorKind.GUESTS, listens)
    events.subscribe(MirrorKind.GUESTS, listens)
    listed.listed.append({"guest_id": "v2", "guest_name": "Two"})
    again(here)
    again(here)
    assert (heard, names(here), here.state(MirrorKind.GUESTS).error) == ([2, 2], {"One", "Two"}, "")


def test_what_nobody_described_is_kept_and_secrets_are_not(told: tuple[Guests, Service, Customer]) -> None:
    listed, _, here = told
    odd: dict[str, Any] = {
        "guest_id": "v1", "guest_name": None, "use_date_end": "some day", "is_for_reserve": "perhaps",
        "email": {"of": "secret"}, "lunch": ["rice"], "card_number": "1",
    }  # fmt: skip
    listed.first = (200, {"guests": [odd]})
    again(here)
    row = guest(here, "v1")
    assert (row.guest_name, row.use_date_end, row.email, row.is_for_reserve) == ("", None, None, None)
    assert row.extra == {"use_date_end": "some day", "is_for_reserve": "perhaps", "lunch": ["rice"]}
