"""What a guard sees of other people's requests."""

from portal.domain.intents.actions import submit
from portal.domain.intents.recording import Command, Requester
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import fresh_nonce


def asked(place, permission, operation, body, **more):
    """Create an intent of the owner."""
    with tenant_scope(place.tenant):
        return submit(
            Command(permission=permission, operation=operation, title=operation, body=body, **more),
            by=Requester(place.tenant, place.owner),
            nonce=fresh_nonce(),
        )


def outcome_of(place, intent):
    return f"/t/{place.tenant.slug}/intents/{intent.pk}/outcome/"


def test_a_guard_follows_another_persons_command_on_the_doors_page(place):
    body = {"tag": "lock_operation", "control": "unlock", "info": ""}
    intent = asked(place, Permission.DOORS_OPERATE, "operate_door", body, path={"device_id": "mock_succeeded"})
    answer = place.client(place.staff("guard")).get(outcome_of(place, intent))
    assert answer.status_code == 200
    assert "data-state" in answer.content.decode()


def test_a_guard_sees_nothing_of_what_only_others_may_ask_for(place):
    intent = asked(place, Permission.GROUPS_EDIT, "create_membergroup", {"membergroup_name": "Board"})
    guard = place.client(place.staff("guard"))
    assert guard.get(outcome_of(place, intent)).status_code == 404
    assert guard.get(f"/t/{place.tenant.slug}/intents/{intent.pk}/").status_code == 404
