"""A tenant's service refuses guests or codes: every page says why, and visitors can still be checked in."""

import pytest

from portal.domain.events import MirrorKind
from portal.domain.people.models import Group, Member
from portal.domain.places.models import Area, PassController
from portal.domain.sync.models import MirrorState
from portal.domain.visits.models import Stage
from tenants.models import Connection
from tests.support.desk import NAME, GuestDesk, said

OTHERWISE = """
[errors]
contract = { qr = ["40377"], door = ["40378"], key_box = ["40378"] }
setting = ["40379"]
scope = ["40370"]
duplicate = { qr = ["40977"] }
"""


@pytest.fixture
def desk(make):
    place = make()
    place.tenant.environment.overrides = OTHERWISE
    place.tenant.environment.save()
    return GuestDesk(place)


@pytest.fixture
def without_qr(make):
    return GuestDesk(make(contracts=("door", "key_box")))


def refuse(desk, status, code, detail="no"):
    desk.fault("status", "create_guest", status=status, error_code=code, error_detail=detail)


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (403, "40377", "no QR option"),
        (402, "40377", "no QR option"),
        (403, "40370", "the connection has no permission for it"),
        (403, "49999", "Guest codes are not available for this tenant. Contact an owner."),
        (400, "40002", "Response from the service"),
    ],
)
def test_whatever_a_service_calls_its_refusal_the_visitor_can_be_received_without_a_code(desk, status, code, words):
    given = desk.fields() | {"name": NAME, "until": "+60"}
    refuse(desk, status, code)
    answer = desk.client.post(desk.url + "new/", given)
    assert words in said(answer)
    assert code in said(answer)
    assert "Check in without a code" in said(answer)
    desk.client.post(desk.url + "new/without-code/", given)
    visit = desk.visits()[-1]
    assert (visit.stage, visit.arrived_at is not None) == (Stage.NOT_ISSUED, True)


def test_a_code_that_is_not_in_the_table_is_not_taken_for_what_it_means_elsewhere(desk):
    with desk.scope():
        area = Area.objects.order_by("pk")[0].area_id
    refuse(desk, 409, "40903", "somebody has it")
    told = said(desk.issue(area_ids=[area]))
    assert "No code was issued: this one is already in use. Send the form again to get another." not in told
    refuse(desk, 409, "40977", "somebody has it")
    assert "No code was issued: this one is already in use. Send the form again to get another." in said(
        desk.issue(area_ids=[area])
    )
    refuse(desk, 403, "40378", "door: not included")
    assert "Issue the code without areas" in said(desk.issue(area_ids=[area]))


PAGES = ("", "by-host/", "building/", "month/", "expected/", "new/")


def test_without_the_qr_option_every_page_of_guests_says_why_in_one_sentence(without_qr):
    desk = without_qr
    for page in PAGES:
        told = said(desk.client.get(desk.url + page))
        assert "QR option contract" in told or "no QR option" in told, page
        assert "vendor can add it" in told, page
    assert "No guests expected today" not in said(desk.client.get(desk.url))
    manager = GuestDesk(desk.place, "facility manager")
    assert "QR option contract" in said(manager.client.get(desk.url + "presets/"))


def test_where_the_guests_were_never_read_the_desk_does_not_say_that_there_are_none(place):
    desk = GuestDesk(place)
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.GUESTS).update(as_of=None)
    for page in ("", "by-host/"):
        told = said(desk.client.get(desk.url + page, {"day": "2031-01-01"}))
        assert "not been loaded" in told, page
        assert "No guests on this day" not in told, page


def test_a_tenant_without_a_connection_says_so_and_who_connects_it(place):
    desk = GuestDesk(place)
    with desk.scope():
        Connection.objects.update(state=Connection.State.BROKEN)
    for page in PAGES:
        assert "not connected to the service" in said(desk.client.get(desk.url + page)), page
    assert "Check in without a code" in said(desk.client.get(desk.url + "new/"))


LISTS = {
    "members": (MirrorKind.MEMBERS, "members:read"),
    "groups": (MirrorKind.GROUPS, "membergroups:read"),
    "areas": (MirrorKind.AREAS, "areas:read"),
    "doors": (MirrorKind.PASS_CONTROLLERS, "devices:read"),
}


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_list_says_that_a_permission_is_missing_or_that_it_was_not_read(place, name):
    from django.urls import reverse

    kind, scope = LISTS[name]
    desk = GuestDesk(place, "facility manager")
    page = reverse({"doors": "devices:index"}.get(name, f"{name}:index"), args=[place.tenant.slug])
    with desk.scope():
        for model in (Member, Group, Area, PassController):
            model.objects.all().delete()
        MirrorState.objects.filter(kind=kind).update(as_of=None, error="")
    assert "not been loaded" in said(desk.client.get(page))
    with desk.scope():
        MirrorState.objects.filter(kind=kind).update(error="not_granted")
        Connection.objects.update(scopes_refused=[scope])
    told = said(desk.client.get(page))
    assert f"lacks the permission {scope}" in told
    assert "An owner can reconnect" in told


def test_two_japanese_sentences_have_no_space_between_them(without_qr):
    desk = without_qr
    told = said(desk.client.get(desk.url, headers={"Accept-Language": "ja"}))
    assert "QRオプション契約がありません。追加はベンダーにお問い合わせください。" in told
