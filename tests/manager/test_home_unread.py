"""The overview does not look calm if a list was never read, is no longer updated or was refused."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.sync.models import MirrorState
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.manager.test_home import home, house  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("house")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (MirrorKind.MEMBERS, "members not loaded"),
        (MirrorKind.GUESTS, "guests not loaded"),
        (MirrorKind.PASS_CONTROLLERS, "doors not loaded"),
        (MirrorKind.KEY_BOXES, "key boxes not loaded"),
    ],
)
def test_a_list_that_was_never_read_is_not_taken_for_calm(place, kind, words):
    with tenant_scope(place.tenant):
        MirrorState.objects.filter(kind=kind).update(as_of=None)
    html = home(place)
    assert "Nothing needs attention" not in html
    assert f"Not known: {words}" in html
    assert ("No member’s access ends within 14 days." in html) is (kind != MirrorKind.MEMBERS)
    assert ("No guests today." in html) is (kind != MirrorKind.GUESTS)


def test_of_what_the_contract_lacks_there_is_nothing_to_know_and_of_what_a_scope_hides_there_is(place):
    with tenant_scope(place.tenant):
        MirrorState.objects.filter(kind=MirrorKind.KEY_BOXES).update(as_of=None, error="no_contract")
    assert "Nothing needs attention" in home(place)
    with tenant_scope(place.tenant):
        Connection.objects.update(scopes_refused=["guests:read"])
    html = home(place)
    assert "Not known: guests not updated" in html
    assert "The connection lacks the permission guests:read." in html


def test_a_list_that_stands_still_for_long_is_named(place):
    with tenant_scope(place.tenant):
        MirrorState.objects.filter(kind=MirrorKind.MEMBERS).update(error="unreachable")
        assert "members not updated" not in home(place)
        MirrorState.objects.filter(kind=MirrorKind.MEMBERS).update(as_of=timezone.now() - timedelta(hours=1))
    assert "Not known: members not updated" in home(place)
