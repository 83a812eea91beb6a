"""Groups as a facility manager works on them, and what other roles may not do. With a real service."""

import contextvars
import html
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi import errors
from accessapi.client import Client as ServiceClient
from portal.domain.events import MirrorKind
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.people.models import Group, Member
from portal.domain.sync.models import MirrorState
from portal.groups import actions, signals
from tenants import scope
from tenants.scope import tenant_scope
from tests.support.places import fresh_nonce, nonce_of

CREATE, RENAME = 17, 18
SALES = "Sales-Kobe"


@pytest.fixture
def other(make):
    """Return another tenant, whose owner has no access here."""
    place = make(members=0)
    place.browser = place.client(place.owner)
    return place


@pytest.fixture
def here(make):
    """Return a tenant with a facility manager's browser and two loaded groups."""
    place = make(members=0)
    with tenant_scope(place.tenant):
        place.browser = place.client(place.staff("facility manager"))
        MirrorState.objects.create(kind=MirrorKind.GROUPS, as_of=timezone.now(), total=2)
        for name in (SALES, "神戸営業部"):
            answer = place.sandbox.api(
                "POST", "/v1/membergroups", token=place.service.token, json={"membergroup_name": name}
            ).json()
            Group.objects.create(
                membergroup_id=answer["membergroup_id"], membergroup_name=name, name_key=name.casefold(), member_count=0
            )
        place.before = {operation: len(place.calls(operation)) for operation in (CREATE, RENAME)}
        yield place


def sent(place, operation):
    """Return the number of calls of an operation that the test itself caused."""
    return len(place.calls(operation)) - place.before[operation]


def elsewhere(ask, *given):
    """Call `ask` outside of the entered tenant, over the same connection to the database."""
    outside = contextvars.copy_context()
    outside.run(scope._scope.set, None)
    return outside.run(ask, *given)


def url(place, rest=""):
    return f"/t/{place.tenant.slug}/groups/{rest}"


def sales(place):
    return Group.objects.get(name_key=SALES.casefold())


def text_of(answer):
    return " ".join(html.unescape(re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", answer.content.decode())).split())


def send(place, rest, page="", **values):
    """Open the form's page and post it."""
    opened = place.browser.get(url(place, page or rest))
    return place.browser.post(url(place, rest), {"nonce": nonce_of(opened)} | values)


def test_the_list_shows_groups_with_their_counts_and_finds_by_name(here):
    text = text_of(here.browser.get(url(here)))
    assert SALES in text
    assert "神戸営業部" in text
    found = text_of(here.browser.get(url(here, "?q=神戸営業")))
    assert "神戸営業部" in found
    assert SALES not in found
    assert "No results" in text_of(here.browser.get(url(here, "?q=nobody")))


def test_a_new_group_is_at_the_service_in_the_mirror_and_on_its_page(here):
    answer = send(here, "new/", membergroup_name="  経理部 ")
    group = Group.objects.get(membergroup_name="経理部")
    page, _hash, _outcome = answer["Location"].partition("#outcome-intent-")
    assert page == url(here, f"{group.membergroup_id}/")
    page = text_of(here.browser.get(answer["Location"]))
    assert "経理部" in page
    assert "Done" in page
    assert "Create group 経理部" in page
    assert sent(here, CREATE) == 1
    assert MirrorState.objects.get(kind=MirrorKind.GROUPS).total == 3


def test_a_renamed_group_has_its_new_name_everywhere(here):
    group = sales(here)
    Member.objects.create(
        member_id="m1", member_name="Sato", name_key="sato", membergroup_id=group.membergroup_id,
        membergroup_name=SALES, group_key="x",
    )  # fmt: skip
    answer = send(here, f"{group.membergroup_id}/rename/", f"{group.membergroup_id}/", membergroup_name="Sales Tokyo")
    assert answer["Location"].startswith(url(here, f"{group.membergroup_id}/#outcome-"))
    page = text_of(here.browser.get(answer["Location"]))
    assert f"Rename group {SALES} to Sales Tokyo" in page
    assert "Sato" in page
    assert Member.objects.get().membergroup_name == "Sales Tokyo"
    assert sent(here, RENAME) == 1


def test_a_groups_page_tells_whose_rights_deviate_and_offers_its_members_for_changes(here):
    group = sales(here)
    office = {"devices_pass": {"default_mode": "allow_all"}, "keys_pass": {"default_mode": "deny_all"}}
    same = {"keys_pass": {"default_mode": "deny_all"}, "devices_pass": {"default_mode": "allow_all", "areas_list": []}}
    other = {"devices_pass": {"default_mode": "deny_all"}, "keys_pass": {"default_mode": "deny_all"}}
    for number, rights in enumerate((office, same, office, other, None)):
        Member.objects.create(
            member_id=f"m{number}", member_name=f"Sato {number}", name_key=f"sato {number}", rights=rights,
            rights_read_at=timezone.now(), membergroup_id=group.membergroup_id, membergroup_name=SALES,
        )  # fmt: skip
    page = text_of(here.browser.get(url(here, f"{group.membergroup_id}/")))
    assert "1 of 4 differs" in page
    assert "Every area" in page
    assert "Loaded for 4 of 5" in page
    assert [page.count(word) for word in ("Same as most", "Differs", "Not loaded yet")] == [3, 1, 1]
    found = text_of(here.browser.get(url(here, f"{group.membergroup_id}/?sort=-name_key")))
    assert found.index("Sato 4") < found.index("Sato 0")
    drawn = here.browser.get(url(here, f"{group.membergroup_id}/")).content.decode()
    assert f"/changes/new/move/?group={group.membergroup_id}" in drawn
    asked = here.browser.post(
        f"/t/{here.tenant.slug}/changes/new/suspend/?group={group.membergroup_id}", {"scope": "match", "match": ""}
    )
    assert "5 members selected" in text_of(asked)
    file = here.browser.get(url(here, "?export=csv"))
    assert SALES in b"".join(file.streaming_content).decode()


def test_a_form_sent_twice_is_one_call(here):
    nonce = nonce_of(here.browser.get(url(here, "new/")))
    first, second = (
        here.browser.post(url(here, "new/"), {"nonce": nonce, "membergroup_name": "Guards"}) for _ in range(2)
    )
    assert first["Location"] == second["Location"]
    assert sent(here, CREATE) == 1


def test_a_form_sent_again_with_another_name_says_so_and_sends_nothing(here):
    nonce = nonce_of(here.browser.get(url(here, "new/")))
    here.browser.post(url(here, "new/"), {"nonce": nonce, "membergroup_name": "Guards"})
    again = here.browser.post(url(here, "new/"), {"nonce": nonce, "membergroup_name": "Cleaners"})
    assert (
        "This form was already sent once. The values below have not been sent. Send it again to apply them."
        in text_of(again)
    )
    assert 'value="Cleaners"' in again.content.decode()
    assert nonce_of(again) != nonce
    assert sent(here, CREATE) == 1


@pytest.mark.parametrize("name", ["", "   ", "x" * 41, "a\x00b"])
def test_a_name_beyond_the_services_limits_is_not_sent(here, name):
    answer = send(here, "new/", membergroup_name=name)
    assert answer.status_code == 422
    assert "Not saved" in text_of(answer)
    assert not Intent.objects.exists()
    assert sent(here, CREATE) == 0


@pytest.mark.parametrize("name", ["x", "あ" * 40])
def test_a_name_at_the_services_limits_is_taken(here, name):
    assert send(here, "new/", membergroup_name=name).status_code == 302
    assert Group.objects.filter(membergroup_name=name).exists()


def test_a_refusal_keeps_what_was_typed_and_says_the_services_words(here):
    group = sales(here)
    group.membergroup_id = "gone"
    group.save()
    answer = send(here, "gone/rename/", "gone/", membergroup_name="Sales Tokyo")
    assert answer.status_code == 422
    text = text_of(answer)
    assert "Refused by the service. Nothing was changed. Response from the service: “" in text
    assert Intent.objects.get().error_code in text
    assert "Nothing was changed." in text
    assert 'value="Sales Tokyo"' in answer.content.decode()
    assert sales(here).membergroup_name == SALES


def test_a_rejected_name_is_told_beside_its_field(here, monkeypatch):
    def refuse(*given, **more):
        raise errors.Conflict(409, code="40999", detail="membergroup_name is taken", message="Conflict")

    monkeypatch.setattr(ServiceClient, "call", refuse)
    answer = send(here, "new/", membergroup_name="Sales")
    beside = re.search(r'(?s)id="id_membergroup_name_errors">(.*?)</ul>', answer.content.decode())[1]
    assert "“membergroup_name is taken” (40999)" in beside
    assert 'value="Sales"' in answer.content.decode()


def test_a_form_of_another_tenant_or_of_long_ago_sends_nothing(other, here):
    foreign = nonce_of(elsewhere(other.browser.get, url(other, "new/")))
    for nonce in (foreign, "", "x", "x:y:z"):
        answer = here.browser.post(url(here, "new/"), {"nonce": nonce, "membergroup_name": "Guards"})
        assert answer.status_code == 422
        assert "Nothing was sent" in text_of(answer)
    assert sent(here, CREATE) == 0


@pytest.mark.parametrize("role", ["receptionist", "guard"])
def test_a_receptionist_and_a_guard_are_told_why_not(here, role):
    browser = here.client(here.staff(role))
    group = sales(here)
    asked = [browser.get(url(here)), browser.get(url(here, f"{group.membergroup_id}/")), browser.get(url(here, "new/")),
             browser.post(url(here, "new/")), browser.post(url(here, f"{group.membergroup_id}/rename/"))]  # fmt: skip
    for answer in asked:
        assert answer.status_code == 403
        assert "member groups" in text_of(answer)
    assert not Intent.objects.exists()


def test_an_auditor_reads_groups_and_changes_none(here):
    browser = here.client(here.staff("auditor"))
    group = sales(here)
    page = browser.get(url(here, f"{group.membergroup_id}/"))
    assert page.status_code == 200
    assert "not rename them" in text_of(page)
    assert "New group" not in text_of(browser.get(url(here)))
    assert browser.get(url(here, "new/")).status_code == 403
    assert browser.post(url(here, f"{group.membergroup_id}/rename/")).status_code == 403


def test_another_tenants_owner_finds_nothing(other, here):
    browser, group = other.browser, sales(here)
    for rest in ("", "new/", f"{group.membergroup_id}/", f"{group.membergroup_id}/rename/"):
        assert browser.get(url(here, rest)).status_code == 404
        assert browser.post(url(here, rest)).status_code == 404
    assert elsewhere(browser.get, url(other, f"{group.membergroup_id}/")).status_code == 404
    assert elsewhere(browser.post, url(other, f"{group.membergroup_id}/rename/")).status_code == 404


@pytest.mark.parametrize("rest", ["no-such-group/", "~00/", "~FF~FE/", "~/", "..%2f..%2fnew/", "x" * 3000 + "/",
                                  "?sort=;drop", "?after=nonsense", "?q=%00", "?size=-1",
                                  "?q=" + "%F0%9F%98%80" * 100])  # fmt: skip
def test_whatever_the_address_says_is_answered(here, rest):
    assert here.browser.get(url(here, rest)).status_code in (200, 302, 400, 404)


def test_a_groups_page_asks_little_also_where_the_rights_of_some_are_known(here):
    group = sales(here)
    rights = [None] * 30 + [{"devices_pass": {"default_mode": mode}} for mode in ("allow_all", "deny_all")] * 15
    Member.objects.bulk_create(
        Member(member_id=f"u{n}", name_key=f"m{n}", membergroup_id=group.membergroup_id, rights=each)
        for n, each in enumerate(rights)
    )
    here.browser.get(url(here, f"{group.membergroup_id}/"))
    with CaptureQueriesContext(connection) as counted:
        page = here.browser.get(url(here, f"{group.membergroup_id}/")).content.decode()
    assert f'data-total="{Member.objects.filter(membergroup_id=group.membergroup_id).count()}"' in page
    assert len(counted) <= 12, [query["sql"][:80] for query in counted]


def test_pages_cost_the_same_however_many_rows_there_are(here):
    def queries(rest):
        here.browser.get(url(here, rest))
        with CaptureQueriesContext(connection) as counted:
            assert here.browser.get(url(here, rest)).status_code == 200
        return len(counted)

    def people(prefix, count):
        Member.objects.bulk_create(
            Member(
                member_id=f"{prefix}{n}", member_name=f"M {n}", name_key=f"m{n}", membergroup_id=group.membergroup_id,
                rights={"devices_pass": {"default_mode": "deny_all"}} if n % 2 else None, rights_read_at=timezone.now(),
            )
            for n in range(count)
        )  # fmt: skip

    group = sales(here)
    page = f"{group.membergroup_id}/"
    actions.rename(group=group, name=SALES, by=here.asker, nonce=fresh_nonce())  # calls are counted from here on
    people("a", 60)
    before = queries(""), queries(page)
    Group.objects.bulk_create(
        Group(membergroup_id=f"g{n}", membergroup_name=f"Group {n}", name_key=f"group{n}") for n in range(120)
    )
    people("b", 120)
    for number in range(3):
        actions.rename(group=group, name=f"Sales {number}", by=here.asker, nonce=fresh_nonce())
    after = queries(""), queries(page)
    assert after == before
    assert after[0] <= 13
    assert after[1] <= 22
    text = text_of(here.browser.get(url(here, page)))
    assert "Loaded for 90 of 180" in text


# Lost answers.


@pytest.fixture
def uncertain(here, monkeypatch):
    """Return `uncertain(create or rename, applied=…)`, which creates an old intent with a lost answer."""
    call = ServiceClient.call

    def ask(how, *, applied):
        def lose(self, name, **more):
            if applied:
                call(self, name, **more)
            raise errors.TimedOut("lost")

        monkeypatch.setattr(ServiceClient, "call", lose)
        intent = how()
        monkeypatch.setattr(ServiceClient, "call", call)
        Intent.objects.filter(pk=intent.pk).update(sent_at=timezone.now() - timedelta(seconds=90))
        intent.refresh_from_db()
        return intent

    return ask


def create(here, name="Guards"):
    return lambda: actions.create(name=name, by=here.asker, nonce=fresh_nonce())


def read_twice(look, intent):
    """Return what a second reading finds, over a minute after the first."""
    first = look(intent)
    assert first.applied is None
    assert first.retry_at > timezone.now()
    missed = {"first seen missing": (timezone.now() - timedelta(seconds=90)).isoformat()}
    Intent.objects.filter(pk=intent.pk).update(result={"evidence": missed})
    intent.refresh_from_db()
    return look(intent)


@pytest.mark.parametrize("applied", [True, False])
def test_a_lost_creation_is_found_by_reading_or_proven_absent(here, uncertain, applied):
    intent = uncertain(create(here), applied=applied)
    assert intent.state == State.UNCERTAIN
    finding = signals.find_new_group(intent) if applied else read_twice(signals.find_new_group, intent)
    assert finding.applied is applied
    assert bool(finding.evidence.get("membergroup_id")) is applied
    assert sent(here, CREATE) == applied


def test_a_lost_creation_of_a_name_that_was_there_before_is_not_taken_for_done(here, uncertain):
    assert read_twice(signals.find_new_group, uncertain(create(here, SALES), applied=False)).applied is False
    assert signals.find_new_group(uncertain(create(here, SALES), applied=True)).applied is True


def test_two_new_groups_of_one_name_leave_it_to_a_person(here, uncertain):
    intent = uncertain(create(here), applied=True)
    here.sandbox.api("POST", "/v1/membergroups", token=here.service.token, json={"membergroup_name": "Guards"})
    assert signals.find_new_group(intent).applied is None


def test_a_found_creation_reaches_the_mirror(here, uncertain):
    intent = uncertain(create(here), applied=True)
    Intent.objects.filter(pk=intent.pk).update(due_at=timezone.now() - timedelta(seconds=5))
    intent.refresh_from_db()
    tracking.reconcile(intent)
    intent.refresh_from_db()
    assert (intent.state, intent.reason) == (State.SUCCEEDED, Reason.TIMED_OUT)
    assert Group.objects.filter(membergroup_name="Guards", membergroup_id=intent.target.split(":")[1]).exists()


def test_a_lost_renaming_is_read_back(here, uncertain):
    group = sales(here)

    def rename():
        return actions.rename(group=group, name="Verkauf", by=here.asker, nonce=fresh_nonce())

    done = uncertain(rename, applied=True)
    path, token = f"/v1/membergroups/{group.membergroup_id}", here.service.token
    assert signals.check_name(done).applied is True
    here.sandbox.api("PUT", path, token=token, json={"membergroup_name": SALES})
    assert read_twice(signals.check_name, done).applied is False
    here.sandbox.api("PUT", path, token=token, json={"membergroup_name": "Else"})
    assert signals.check_name(done).applied is None
