"""The banners on top of every page: alarms are above what can wait."""

from datetime import timedelta

from portal.base.timers.clock import database_now
from portal.domain.alerts import detection
from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.support.desk import said
from tests.support.doors import shows
from tests.support.keys import key_box, tells


def test_a_forced_door_stands_above_a_key_that_is_overdue(place):
    key_box(place)
    tells(place, "01", "Key taken", database_now() - timedelta(hours=30))
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="F", device_name="倉庫 入口")
    shows(place, "F", door="open", errors=["forced_open"])
    with tenant_scope(place.tenant):
        detection.check_tenant()
    words = said(place.client(place.staff("guard")).get(f"/t/{place.tenant.slug}/keys/"))
    assert words.index("倉庫 入口 was forced open.") < words.index("has been out for over 12 hours.")
