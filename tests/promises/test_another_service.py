"""Another implementation of the specification, with other paths and shapes for what is not shown, needs no release."""

from collections.abc import Iterator

import pytest

from portal.intents import following
from portal.intents.actions import submit
from portal.intents.clock import database_now
from portal.intents.models import Intent
from portal.intents.states import State
from portal.mirror import schedule, sync
from portal.mirror.models import Group, Member, PassController
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import Place, fresh_nonce, make_place
from tests.support.sandbox import Sandbox

ELSEWHERE = """
[operations.tenant]
number = 1
path = "/v1/organisation"
[operations.change]
number = 6
method = "POST"
path = "/v1/members/{member_id}/modify"
[operations.removal]
number = 10
method = "POST"
path = "/v1/members/{member_id}/remove"
[operations.many]
number = 13
path = "/v1/bulk/members"
[operations.new_group]
number = 17
path = "/v1/membergroups/new"
[operations.result]
number = 34
path = "/v1/jobs/{request_id}"
[operations.door]
number = 35
path = "/v1/doors/{device_id}/operate"
[shapes]
qr_removal = { remove = true }
pass_list_key = "controllers"
"""


@pytest.fixture(scope="module")
def another_service() -> Iterator[Sandbox]:
    with Sandbox(operations=ELSEWHERE) as running:
        yield running


@pytest.fixture
def place(another_service: Sandbox, db: None) -> Iterator[Place]:
    place = make_place(another_service, members=8, overrides=ELSEWHERE)
    with tenant_scope(place.tenant):
        yield place


def ask(place, operation, **more):
    asked = {"permission": Permission.MEMBERS_EDIT, "title": operation, "nonce": fresh_nonce(), **more}
    return submit(by=place.asker, operation=operation, **asked)


def followed(intent):
    for _ in range(100):
        if intent.state != State.ACCEPTED:
            break
        Intent.objects.update(due_at=database_now())
        following.poll(intent)
        intent.refresh_from_db()
    return intent.state


def test_its_lists_are_read(place):
    schedule.start(place.tenant)
    sync.due()
    assert Member.objects.count() == 8
    assert PassController.objects.exists()
    assert Group.objects.exists()


def test_its_members_are_changed_relieved_of_their_qr_code_and_deleted(place):
    schedule.start(place.tenant)
    sync.due()
    member = Member.objects.first().member_id
    target = {"path": {"member_id": member}, "target": f"member:{member}"}
    assert (
        ask(place, "update_member", body={"member_name": "新しい名前", "qrcode": None}, **target).state
        == State.SUCCEEDED
    )
    assert ask(place, "delete_member", **target).state == State.SUCCEEDED


def test_its_bulk_requests_and_doors_are_followed_to_their_outcome(place):
    group = ask(place, "create_membergroup", body={"membergroup_name": "営業部"})
    members = [{"member_name": f"会員{n}", "membergroup_id": group.result["membergroup_id"]} for n in range(3)]
    assert followed(ask(place, "bulk_create_members", body={"members": members})) == State.SUCCEEDED
    door = ask(
        place, "operate_door", path={"device_id": "mock_succeeded"}, body={"tag": "lock_operation", "control": "unlock"}
    )
    assert followed(door) == State.SUCCEEDED
