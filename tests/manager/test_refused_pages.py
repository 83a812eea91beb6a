"""What a facility manager reads where the service refuses a page's list or its action: the reason, in one sentence."""

import re

import pytest

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people.models import Group, Member
from portal.domain.places.models import Area, KeyBox, PassController
from portal.domain.sync.models import MirrorState
from tenants.models import Connection
from tests.support.members import MembersDesk, said
from tests.support.reports import ReportsDesk

LACKS = "The connection lacks the permission {}. An owner can reconnect the tenant"


@pytest.fixture
def desk(make):
    return MembersDesk(make(members=1))


def page(desk, rest):
    return said(desk.client.get(f"/t/{desk.place.tenant.slug}/{rest}"))


def refuse(desk, *, scopes=(), contracts=()):
    with desk.scope():
        Connection.objects.update(scopes_refused=[*scopes], contracts_refused=[*contracts])


def test_without_the_key_box_contract_the_page_of_temporary_keys_says_so(make):
    desk = MembersDesk(make(members=1, contracts=("door", "qr")))
    told = page(desk, f"members/{desk.members()[0].member_id}/keys/")
    assert "does not include this: key-box contract. The vendor can add it" in told
    assert "No key boxes yet" not in told


def test_the_menu_has_no_entry_without_its_contract_and_page_and_connection_say_what_lacks(desk):
    at = f"/t/{desk.place.tenant.slug}"
    entry = f'href="{at}/keys/"'
    assert entry in desk.client.get(f"{at}/").content.decode()
    refuse(desk, contracts=["key_box"])
    home = desk.client.get(f"{at}/").content.decode()
    assert entry not in home
    assert f'href="{at}/devices/"' in home
    assert f'{at}/keys/"' not in desk.client.get(f"{at}/find/?q=Keys").content.decode()
    with desk.scope():
        KeyBox.objects.all().delete()
    assert "does not include this: key-box contract. The vendor can add it" in page(desk, "keys/")
    owner = desk.place.client(desk.place.owner)
    assert re.search(r"key-box contract.{0,200}? Refused", said(owner.get(f"{at}/connection/")))


def test_a_report_of_keys_says_that_the_contract_lacks_them(make):
    desk = ReportsDesk(make(members=1))
    refuse(desk, contracts=["key_box"])
    with desk.scope():
        KeyBox.objects.all().delete()
    told = desk.page(desk.ask("keys"))
    assert "does not include this: key-box contract." in told
    assert "Keys out unknown" in told
    assert "All key locations known" not in told


def test_where_key_boxes_were_never_read_nobody_says_that_there_are_none(desk):
    with desk.scope():
        KeyBox.objects.all().delete()
        MirrorState.objects.filter(kind=MirrorKind.KEY_BOXES).update(as_of=None, error="")
    told = page(desk, f"members/{desk.members()[0].member_id}/keys/")
    assert "Not loaded yet" in told
    assert "No key boxes yet" not in told


def test_empty_panels_of_activity_say_that_the_log_is_refused(desk):
    with desk.scope():
        door = PassController.objects.create(tenant=desk.place.tenant, device_id="d", device_name="正面")
        History.objects.all().delete()
        area = Area.objects.order_by("pk")[0]
    pages = [f"members/{desk.members()[0].member_id}/", f"areas/{area.area_id}/", f"devices/{door.device_id}/"]
    assert [rest for rest in pages if "histories:read" in page(desk, rest)] == []
    refuse(desk, scopes=["histories:read"])
    for rest in pages:
        assert LACKS.format("histories:read") in page(desk, rest), rest


def test_empty_lists_of_people_say_that_members_are_refused(desk):
    with desk.scope():
        Member.objects.all().delete()
        area, group = Area.objects.order_by("pk")[0], Group.objects.order_by("pk")[0]
    pages = [
        f"areas/{area.area_id}/", f"areas/{area.area_id}/members/", f"groups/{group.membergroup_id}/",
        "members/leavers/none/",
    ]  # fmt: skip
    refuse(desk, scopes=["members:read"])
    for rest in pages:
        assert LACKS.format("members:read") in page(desk, rest), rest


def test_forms_whose_act_the_service_refuses_say_so_before_they_are_filled(desk):
    one = f"members/{desk.members()[0].member_id}/"
    pages = ["members/new/", one + "edit/", one + "delete/", one + "face/", one + "keys/", one + "rights/"]
    assert [rest for rest in pages if "members:write" in page(desk, rest)] == []
    refuse(desk, scopes=["members:write", "membergroups:write"])
    for rest in pages:
        assert LACKS.format("members:write") in page(desk, rest), rest
    assert LACKS.format("membergroups:write") in page(desk, "groups/new/")


def test_a_door_says_that_the_licence_is_refused_and_can_be_tried_all_the_same(desk):
    with desk.scope():
        PassController.objects.create(tenant=desk.place.tenant, device_id="d", device_name="正面")
    assert "licence is missing" not in page(desk, "devices/d/")
    refuse(desk, contracts=["licence"])
    told = page(desk, "devices/d/")
    assert "The remote-operation licence is missing. The vendor can add it" in told
    assert "Unlock" in told


def test_a_members_rights_say_why_no_place_is_listed(desk):
    with desk.scope():
        KeyBox.objects.all().delete()
        Area.objects.all().delete()
    refuse(desk, contracts=["key_box"], scopes=["areas:read"])
    told = page(desk, f"members/{desk.members()[0].member_id}/rights/")
    assert "does not include this: key-box contract" in told
    assert LACKS.format("areas:read") in told
