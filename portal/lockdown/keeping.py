"""The tenant's setting of lockdowns: kept with an entry in the audit trail, and read where an evacuation begins."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from portal.core.intents.nonces import NotAsked
from portal.core.intents.record import Asker
from portal.core.mirror.models import PassController
from portal.lockdown.models import LockdownSetting, Scope, Second, setting
from portal.lockdown.preview import Wanted
from tenants import audit
from tenants.wording import say


def save(*, evacuation: bool, doors: Sequence[str], second: Second, by: Asker) -> None:
    """Keep the setting; of the doors those that are known."""
    known = PassController.objects.order_by("name_order", "pk").values_list("device_id", flat=True)
    wanted = {"evacuation": evacuation, "doors": [each for each in known if each in doors], "second": second.value}
    with transaction.atomic():
        before = _facts(setting())
        if wanted != before:
            LockdownSetting.objects.update_or_create(defaults=wanted)
            summary = say("lockdown.settings")
            audit.record(**by.author, action="lockdown.settings", summary=summary, before=before, after=wanted)


def evacuation_doors() -> Wanted:
    """The doors that an evacuation unlocks. Raises NotAsked where that is not switched on."""
    kept = setting()
    if not kept.evacuation:
        raise NotAsked(_("Evacuation unlock is not switched on. Nothing was sent."))
    return Wanted(Scope.CHOSEN, chosen=tuple(kept.doors))


def _facts(kept: LockdownSetting) -> dict[str, object]:
    return {"evacuation": kept.evacuation, "doors": list(kept.doors), "second": kept.second}
