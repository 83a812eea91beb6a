"""The tenant's lockdown settings. They are changed as a safety rule and used when an evacuation starts."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.base.ui.value_words import join_values
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.mirror.models import PassController
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues
from portal.domain.safety.words import on_or_off
from portal.lockdown.models import Kind, LockdownSetting, Scope, Second, current_setting
from portal.lockdown.preview import DoorSelection
from tenants import audit
from tenants.roles import Permission
from tenants.wording import coded_sentence


def change_settings(*, evacuation: bool, doors: Sequence[str], second: Second, by: Requester) -> ChangeResult:
    """Change the settings; unknown doors are dropped. Raises NotChanged."""
    known = PassController.objects.order_by("name_order", "pk").values_list("device_id", flat=True)
    wanted = {"evacuation": evacuation, "doors": [each for each in known if each in doors], "second": second.value}
    return changing.change(SETTINGS_RULE, wanted, by=by)


def evacuation_doors() -> DoorSelection:
    """Return the doors that an evacuation unlocks. Raises NotSubmitted if evacuations are switched off."""
    kept = current_setting()
    if not kept.evacuation:
        raise NotSubmitted(_("Evacuation unlock is not switched on. Nothing was sent."))
    return DoorSelection(Scope.CHOSEN, chosen=tuple(kept.doors))


def _read_settings(_subject: str) -> dict[str, object]:
    kept = current_setting()
    return {"evacuation": kept.evacuation, "doors": list(kept.doors), "second": kept.second}


def _is_looser(_subject: str, before: SettingValues, after: SettingValues) -> bool:
    """Check whether fewer orders would need a second person, or an evacuation would unlock more doors."""
    was, wanted = LockdownSetting(**before), LockdownSetting(**after)
    if any(was.needs_second_person(kind) and not wanted.needs_second_person(kind) for kind in Kind):
        return True
    opened = set(was.doors) if was.evacuation else set()
    return wanted.evacuation and not (was.evacuation and set(wanted.doors) <= opened)


def _save_settings(subject: str, after: SettingValues, by: Requester) -> None:
    before = _read_settings(subject)
    LockdownSetting.objects.update_or_create(defaults=dict(after))
    summary = coded_sentence("lockdown.settings")
    audit.record(**by.audit_author, action="lockdown.settings", summary=summary, before=before, after=dict(after))


def _describe_settings(_subject: str, values: SettingValues) -> Mapping[str, str]:
    rows: Any = PassController.objects.filter(device_id__in=values["doors"]).order_by("name_order", "pk")
    return {
        _("Evacuation unlock"): on_or_off(values["evacuation"]),
        _("Doors of the evacuation unlock"): join_values(map(str, rows)),
        _("A second person has to confirm"): str(Second(values["second"]).label),
    }


SETTINGS_RULE = SafetyRule(
    name="lockdown",
    permission=Permission.LOCKDOWN,
    title=lambda _subject: coded_sentence("safety_rule.lockdown"),
    read=_read_settings,
    is_looser=_is_looser,
    save=_save_settings,
    describe=_describe_settings,
    page_route=lambda _subject: ("lockdown:settings",),
)
