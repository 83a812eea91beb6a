"""Pictures from before and after a door command, after a manager has switched them on."""

import re
from datetime import timedelta

from django.db.models import F
from django.urls import reverse

from portal.base.timers.clock import database_now
from portal.domain.cameras import door_command_pictures
from portal.domain.cameras.models import Camera, CommandPicture
from portal.domain.intents import nonces, tracking
from portal.domain.intents.models import Intent
from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.support.members import said
from tests.support.places import nonce_of
from tests.support.waiting import until


def at(place, name):
    return reverse(f"cameras:{name}", args=[place.tenant.slug])


def unlocked(place, client, there):
    """Unlock a door by its page, and follow the request to its end."""
    client.post(f"{there}command/", {"control": "unlock", nonces.FIELD: nonce_of(client.get(there))})

    def ended():
        with tenant_scope(place.tenant):
            intent = Intent.objects.latest("pk")
            if not intent.is_final:
                tracking.poll(intent)
            return intent.is_final

    until(ended, saying="the command ends")


def test_a_door_command_gets_pictures_of_before_and_after_once_that_is_switched_on(place, manager):
    theirs = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"]
    told = next(each for each in theirs if each["is_connected"] and each["device_id"])
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id=told["device_id"], device_name="通用口")
        Camera.objects.create(camera_id=told["camera_id"], name="通用口カメラ", doors=[told["device_id"]])
    there = reverse("devices:door", args=[place.tenant.slug, told["device_id"]])
    unlocked(place, manager, there)
    with tenant_scope(place.tenant):
        assert not CommandPicture.objects.exists()
    assert "Uses 2 more device API calls per command" in said(manager.get(at(place, "settings")))
    manager.post(at(place, "settings"), {"wanted": "on"})
    unlocked(place, manager, there)
    assert "Loading picture" in said(manager.get(there))
    calls = len(place.calls(30))
    with tenant_scope(place.tenant):
        # Move the request ten seconds into the past, so that both moments are over.
        CommandPicture.objects.update(due_at=database_now(), at=F("at") - timedelta(seconds=10))
        for moment in door_command_pictures.PICTURES.claim_batch():
            door_command_pictures.read_pictures(moment.pk)
    page = manager.get(there)
    assert re.search("Before .* After", said(page))
    assert len(re.findall(r'src="[^"]*/cameras/[^"]*/picture/', page.content.decode())) >= 2
    assert len(place.calls(30)) == calls + 2
    with tenant_scope(place.tenant):
        CommandPicture.objects.update(at=F("at") - timedelta(days=2))
    later = manager.get(there)
    assert "Pictures are stored for one day. Load again: 通用口カメラ" in said(later)
    (again, _after) = re.findall(rf'href="([^"]*/cameras/{told["camera_id"]}/\?at=[^"]+)"', later.content.decode())
    assert re.search(r'name="at"[^>]*\svalue="[0-9T:-]+"', manager.get(again).content.decode())
    auditor = place.client(place.staff("auditor"))
    assert not re.search("Before .* After", said(auditor.get(there)))
