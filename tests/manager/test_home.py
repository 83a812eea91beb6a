"""A tenant's home: what each role finds there."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.intents.models import Intent
from portal.mirror.models import PassController
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.doors import shows
from tests.support.places import fresh_nonce


def home(place, role="facility manager"):
    return place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/").content.decode()


def test_a_manager_sees_the_connection_the_freshness_and_the_calls_left(place):
    html = home(place)
    for words in ("Connected", "What we know of the service", "Calls of this hour", "720"):
        assert words in html


def test_a_door_that_needs_somebody_is_on_the_first_page(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="d", device_name="裏口")
    shows(place, "d", door="open", lock="unlock")
    html = home(place, "guard")
    assert "裏口" in html
    assert ">Open<" in html


def test_what_needs_a_decision_comes_first(place):
    with tenant_scope(place.tenant):
        Intent.objects.create(
            tenant=place.tenant, nonce=fresh_nonce().value, operation="create_member", delivery="create",
            title="Create member: X", by=place.owner, permission="members_edit", priority=1, queue="interactive",
            state="uncertain", reason="lost", due_at=None,
        )  # fmt: skip
    html = home(place)
    assert html.index("Needs a decision") < html.index("What we know of the service")


def test_a_guard_sees_neither_members_nor_calls_nor_changes(place):
    html = home(place, "guard")
    for words in ("What we know of the service", "Calls of this hour", "Last changes"):
        assert words not in html


def test_an_unconnected_tenant_says_what_to_do_next(place):
    with tenant_scope(place.tenant):
        Connection.objects.update(state=Connection.State.NONE)
    assert "Not connected" in home(place)


def test_the_home_costs_the_same_few_queries_however_much_there_is(place):
    client = place.client()
    client.get(f"/t/{place.tenant.slug}/")
    with CaptureQueriesContext(connection) as few:
        client.get(f"/t/{place.tenant.slug}/")
    with tenant_scope(place.tenant):
        for n in range(30):
            PassController.objects.create(device_id=f"d{n}", device_name=f"Door {n}")
    with CaptureQueriesContext(connection) as many:
        client.get(f"/t/{place.tenant.slug}/")
    assert len(many) <= len(few) <= 12
