"""The way of an intent with a real service: recorded once, sent once, followed to its outcome, and shown correctly."""

from datetime import timedelta

from portal.base.timers.clock import database_now
from portal.domain.intents import tasks, tracking
from portal.domain.intents.actions import stop, submit
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.recording import Command, record_intent
from portal.domain.intents.sending import send
from portal.domain.intents.words import outcome_of
from tenants.models import AuditEntry, Connection, Staff
from tenants.roles import Permission
from tests.support.doors import door_command, recorded_command
from tests.support.places import fresh_nonce
from tests.support.waiting import until


def create_group(place, name="Sales", nonce=None, **more):
    return submit(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="create_membergroup",
            title=f"Create group {name}",
            body={"membergroup_name": name},
        ),
        by=place.asker,
        nonce=nonce or fresh_nonce(),
        **more,
    )


def unlock(place, device="mock_succeeded", control="unlock", **more):
    return submit(door_command(device, control), by=place.asker, nonce=fresh_nonce(), **more)


def follow(intent):
    """Poll as the workers would, until the intent has ended."""

    def ended():
        tracking.poll(intent)
        intent.refresh_from_db()
        return intent.state != State.ACCEPTED

    until(ended)
    return intent


def test_a_change_is_recorded_with_its_audit_row_sent_and_done(here):
    intent = create_group(here)
    assert intent.state == State.SUCCEEDED
    assert intent.result["membergroup_name"] == "Sales"
    actions = list(AuditEntry.objects.filter(intent_id=str(intent.pk)).values_list("action", flat=True))
    assert sorted(actions) == ["create_membergroup", "create_membergroup.succeeded"]


def test_the_same_form_sent_fifty_times_is_one_intent_and_one_call(here):
    nonce = fresh_nonce()
    assert len({create_group(here, nonce=nonce).pk for _ in range(50)}) == 1
    assert len(here.calls(17)) == 1


def test_the_services_refusal_is_told_with_its_code_and_as_not_applied(here):
    intent = submit(
        Command(
            permission=Permission.MEMBERS_EDIT,
            operation="update_member",
            target="member:nobody",
            title="Rename nobody",
            path={"member_id": "nobody"},
            body={"member_name": "X"},
        ),
        by=here.asker,
        nonce=fresh_nonce(),
    )
    assert intent.state == State.FAILED
    assert intent.http_status == 404
    told = outcome_of(intent)
    assert told.state == "refused"
    assert told.not_applied
    assert told.service_code


def test_what_breaks_the_services_limits_is_not_sent(here):
    intent = create_group(here, name="x" * 41)
    assert (intent.state, intent.reason) == (State.FAILED, Reason.INVALID)
    assert "membergroup_name" in intent.error_detail
    assert not here.calls(17)


def test_an_unlock_is_followed_to_its_outcome(here):
    intent = follow(unlock(here))
    assert intent.state == State.SUCCEEDED
    assert len(here.sandbox.commands(here.service.tenant_id)) == 1


def test_a_device_that_times_out_is_reported_as_refused_with_the_services_word(here):
    sent = unlock(here, "mock_timeout")
    here.sandbox.move_clock(here.service.tenant_id, minutes=1)
    intent = follow(sent)
    assert (intent.state, intent.reason, intent.request_status) == (State.FAILED, Reason.REQUEST_FAILED, "timeout")


def test_sending_twice_is_sending_once(here):
    intent = unlock(here)
    for _ in range(20):
        send(intent)
    assert len(here.sandbox.commands(here.service.tenant_id)) == 1


def ends_as(place, intent):
    send(intent)
    assert not place.sandbox.commands(place.service.tenant_id)
    return intent.state, intent.reason


def test_fifteen_seconds_after_the_click_nothing_leaves(here):
    late = recorded_command(here, deadline=database_now() - timedelta(milliseconds=1))
    assert ends_as(here, late) == (State.EXPIRED, Reason.TOO_LATE)


def test_somebody_who_lost_the_role_meanwhile_sends_nothing(here):
    intent = recorded_command(here)
    Staff.objects.filter(user=here.owner).update(role="auditor")
    assert ends_as(here, intent) == (State.CANCELLED, Reason.RIGHTS)


def test_somebody_who_left_sends_nothing(here):
    intent = recorded_command(here)
    here.owner.is_active = False
    here.owner.save()
    assert ends_as(here, intent) == (State.CANCELLED, Reason.RIGHTS)


def test_without_a_connection_nothing_leaves(here):
    intent = recorded_command(here)
    Connection.objects.update(state=Connection.State.REVOKED)
    assert ends_as(here, intent) == (State.CANCELLED, Reason.CONNECTION)


def test_without_a_licence_key_nothing_leaves(here):
    intent = recorded_command(here)
    here.connection.licence_key = None
    here.connection.save()
    assert ends_as(here, intent) == (State.CANCELLED, Reason.LICENCE)


def test_locking_gives_way_to_a_newer_command_for_the_same_door(here):
    older = recorded_command(here, control="lock")
    recorded_command(here)
    assert ends_as(here, older) == (State.CANCELLED, Reason.NEWER)


def test_what_is_stopped_before_it_left_is_not_sent(here):
    intent = recorded_command(here)
    assert stop(intent)
    send(intent)
    assert (intent.state, intent.reason) == (State.CANCELLED, Reason.STOPPED)
    assert not stop(intent)


def test_a_claim_whose_process_is_gone_is_uncertain_for_a_door(here):
    intent = recorded_command(here, state=State.SENDING, claimed_at=database_now() - timedelta(minutes=1), due_at=None)
    tasks.settle_abandoned(intent)
    intent.refresh_from_db()
    assert (intent.state, intent.reason) == (State.UNCERTAIN, Reason.PROCESS)
    told = outcome_of(intent)
    assert "may have opened" in str(told.message)
    assert told.next_steps


def test_changes_to_one_member_leave_in_the_order_in_which_they_were_asked(here):
    def rename(name):
        command = Command(
            permission=Permission.GROUPS_EDIT,
            operation="update_membergroup",
            target="membergroup:G",
            title="Rename",
            path={"membergroup_id": "G"},
            body={"membergroup_name": name},
        )
        return record_intent(command, by=here.asker, nonce=fresh_nonce())[0]

    first, second = rename("A"), rename("B")
    send(second)
    assert second.state == State.QUEUED
    assert not here.calls(18)
    send(first)
    Intent.objects.update(due_at=database_now())
    send(second)
    assert len(here.calls(18)) == 2
    assert second.state == State.FAILED


def test_a_person_decides_what_reading_could_not_tell_once(here):
    intent = recorded_command(here, state=State.UNCERTAIN, due_at=None)
    assert tracking.resolve(intent, applied=True, by=here.asker)
    assert not tracking.resolve(intent, applied=False, by=here.asker)
    intent.refresh_from_db()
    assert (intent.state, intent.resolved_by) == (State.SUCCEEDED, here.owner)


def test_secrets_that_the_service_repeats_are_put_out_of_sight(here):
    from portal.domain.intents.transitions import without_secrets

    body = {"members": [{"card_data": "0123456789ABCDEF", "qrcode": {"data": "QR-SECRET"}}]}
    said = "card 0123456789ABCDEF already registered (QR-SECRET)"
    assert without_secrets(said, body) == "card ••• already registered (•••)"
