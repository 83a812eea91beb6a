"""A member's creation, change or deletion with a lost answer: what a reading finds, and what stays unknown."""

from datetime import timedelta

import pytest

from accessapi.resources import write_moment
from portal.domain.intents import handlers, transitions
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.recording import Command, record_intent
from portal.domain.intents.transitions import Transition
from portal.domain.people.models import Member
from portal.domain.sync import tasks
from portal.members import actions, queries
from tenants.roles import Permission
from tests.support.members import MembersDesk
from tests.support.places import fresh_nonce


@pytest.fixture
def desk(place):
    desk = MembersDesk(place)
    with desk.scope():
        yield desk


@pytest.fixture
def lost(desk):
    """Return `lost("create_member", body)`, which creates a sent intent without an answer."""

    def make(operation, body=None, member=None):
        permission = Permission.MEMBERS_DELETE if operation == "delete_member" else Permission.MEMBERS_EDIT
        intent, _ = record_intent(
            Command(
                permission=permission,
                operation=operation,
                title=operation,
                target=f"member:{member.member_id}" if member else "",
                path={"member_id": member.member_id} if member else {},
                body=body,
                snapshot=queries.candidates_before(body) if operation == "create_member" else None,
            ),
            by=desk.place.asker,
            nonce=fresh_nonce(),
        )
        Intent.objects.filter(pk=intent.pk).update(state=State.UNCERTAIN, reason=Reason.LOST)
        intent.refresh_from_db()
        return intent

    return make


def look(intent):
    """Return what a reading finds; for a creation, in the list after it has been read."""
    reconcile = handlers.handler_of(intent.operation).reconcile
    found = reconcile(intent)
    if intent.operation != "create_member":
        return found
    tasks.read_due()
    return reconcile(intent)


def a_minute_later(intent, finding):
    """Return the same intent after the first reading is old enough."""
    first = finding.retry_at - handlers.MIN_ABSENCE_INTERVAL * 2 - timedelta(seconds=5)
    evidence = {**finding.evidence, "first seen missing": write_moment(first)}
    Intent.objects.filter(pk=intent.pk).update(result={"evidence": evidence})
    intent.refresh_from_db()
    return intent


def created_at_service(desk, body):
    answer = desk.place.sandbox.api("POST", "/v1/members", json=body, token=desk.place.service.token)
    return answer.json()["member_id"]


def test_one_new_member_with_the_card_is_ours_and_the_mirror_learns_it(desk, lost):
    body = {"member_name": "山田", "membergroup_id": desk.group.membergroup_id, "card_data": "00AA00BB00CC00DD"}
    intent = lost("create_member", body)
    member_id = created_at_service(desk, body)
    found = look(intent)
    assert found.applied is True
    transitions.apply_transition({"pk": intent.pk}, Transition(State.SUCCEEDED, result={"evidence": found.evidence}))
    assert Member.objects.get(member_id=member_id).member_name == "山田"
    intent.refresh_from_db()
    assert intent.target == f"member:{member_id}"


def test_absence_counts_only_when_two_readings_a_minute_apart_agree(desk, lost):
    body = {"member_name": "山田", "membergroup_id": desk.group.membergroup_id, "member_code": "N-1"}
    intent = lost("create_member", body)
    first = look(intent)
    assert first.applied is None
    assert first.retry_at is not None
    assert look(a_minute_later(intent, first)).applied is False


def test_all_who_look_for_a_creation_share_one_reading_of_the_list(desk, lost):
    before = len(desk.place.calls(3))
    group = desk.group.membergroup_id
    intents = [lost("create_member", {"member_name": f"山田 {n}", "membergroup_id": group}) for n in range(3)]
    for intent in intents * 2:
        assert handlers.handler_of(intent.operation).reconcile(intent).retry_at is not None
    assert len(desk.place.calls(3)) == before
    found = [look(intent) for intent in intents]
    assert {each.evidence["first seen missing"] for each in found} == {found[0].evidence["read"]}
    assert len(desk.place.calls(3)) == before + 1


def test_somebody_who_was_known_before_is_not_taken_for_the_new_one(desk, lost):
    namesake = desk.members()[0]
    body = {"member_name": namesake.member_name, "membergroup_id": namesake.membergroup_id}
    intent = lost("create_member", body)
    assert look(a_minute_later(intent, look(intent))).applied is False


@pytest.mark.parametrize("extra", [{}, {"member_code": "N-2"}])
def test_a_new_namesake_or_two_with_one_code_are_left_to_a_person(desk, lost, extra):
    body = {"member_name": "山田", "membergroup_id": desk.group.membergroup_id, **extra}
    intent = lost("create_member", body)
    for _ in range(2 if extra else 1):
        created_at_service(desk, body)
    found = look(intent)
    assert (found.applied, found.retry_at) == (None, None)
    assert found.evidence["may be"]


def test_a_change_is_found_or_found_missing(desk, lost):
    member = desk.members()[0]
    body = {"member_name": "新しい名前", "use_date_end": "2031-01-01T00:00:00+09:00"}
    intent = lost("update_member", body, member)
    first = look(intent)
    assert first.applied is None
    assert "member_name" in first.evidence["differs"]
    assert look(a_minute_later(intent, first)).applied is False
    again = actions.update(member=member, body=body, by=desk.place.asker, nonce=fresh_nonce())
    assert again.state == State.SUCCEEDED
    assert look(lost("update_member", body, member)).applied is True


def test_a_deletion_is_proven_by_the_members_absence(desk, lost):
    member = desk.members()[0]
    intent = lost("delete_member", None, member)
    first = look(intent)
    assert first.applied is None
    assert look(a_minute_later(intent, first)).applied is False
    desk.place.sandbox.api("DELETE", f"/v1/members/{member.member_id}", token=desk.place.service.token)
    assert look(lost("delete_member", None, member)).applied is True
