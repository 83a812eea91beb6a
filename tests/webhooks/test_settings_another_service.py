"""The webhook's settings with services that decide differently: only the overrides file changes."""

import pytest
from django.conf import settings as site

from portal.domain.intents.models import State
from portal.webhooks.models import Notification
from tenants.scope import tenant_scope
from tests.support.doors import moved, real_doors
from tests.support.hooks import Hook
from tests.support.places import make_place, place_elsewhere
from tests.support.second_service import Elsewhere
from tests.webhooks.panel import Panel


def test_another_method_path_and_other_categories_need_the_overrides_file_alone(contrary, db):
    place = make_place(contrary, members=0, overrides=contrary.overrides)
    panel = Panel(place)
    assert panel.offered() == ["normal", "operation", "doubtful", "notice", "defect", "danger"]
    page = panel.act("on", categories=["danger"])
    there = panel.at_service()
    assert "Waiting for the first notification" in page
    assert (there["is_invalid"], there["trigger"]) == (False, {"history": {"category": ["danger"]}})
    assert there["url"] == f"{site.PORTAL_URL}/hooks/{panel.row().token}/"
    panel.act("secret")
    assert panel.at_service()["secret_token"] == panel.row().secret
    panel.act("off")
    assert panel.at_service()["is_invalid"] is True
    assert [call for call in place.calls() if call["status"] >= 400] == []


def test_what_it_notifies_names_its_record_by_the_overrides_file_alone(contrary, db, post, process):
    place = make_place(contrary, members=0, overrides=contrary.overrides)
    there = Hook(place.tenant, is_on=False)
    panel = Panel(place)
    panel.act("on", categories=["emergency"])
    (door, *_rest) = real_doors(place)
    moved(place, door, "force")
    (record,) = contrary.look("histories", tenant_id=place.service.tenant_id)["histories"][-1:]
    (sent,) = contrary.look("deliveries", tenant_id=place.service.tenant_id)["deliveries"][-1:]
    assert "history_id" not in sent["body"], "it is called otherwise there"
    assert post(sent["body"].encode(), by=there) == 204
    process.flush()
    with tenant_scope(place.tenant):
        told = Notification.objects.get()
    assert (told.history_id, told.body["device_id"]) == (record["history_id"], door)
    assert told.at is not None


@pytest.mark.parametrize(
    "flaws", [(), ("webhook_secret_cleared",)], ids=["that keeps it", "that forgets what is left out"]
)
def test_a_service_that_shares_nothing_with_the_sandbox_has_the_secret_after_every_change(db, settings, flaws):
    settings.PORTAL_URL = "https://portal.example.test"
    with Elsewhere(flaws=flaws, lively=False) as service:
        panel = Panel(place_elsewhere(service))
        for act in ({"categories": ["normal"]}, {"categories": ["normal", "operation"]}):
            confirmed = {"replace": panel.mark()} if "operation" not in act["categories"] else {}
            panel.act("on" if confirmed else "categories", **act, **confirmed)
            assert panel.intent().state == State.SUCCEEDED
            assert "differs" not in panel.text()
