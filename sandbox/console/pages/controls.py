"""/console/controls/ and /console/t/<tenant_id>/controls/: clock, faults, behaviour and reset."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse

from sandbox import behaviour, clock
from sandbox.behaviour import ALL_TENANTS, Behaviour
from sandbox.catalogue import CATALOGUE
from sandbox.faults import store
from sandbox.service.models import Settings

from . import summary, words
from .actions import respond
from .base import console_page, render, tenant_of
from .control_actions import ACTIONS, CLOCK_SETTING, FAULT_KINDS, Target
from .forms import FormState

#: The settings in groups for people. Settings without a group are last.
_GROUPS = {
    "life": ["passages_per_hour", "door_open_seconds", "relock_seconds", "device_seconds", "keys_return_seconds"],
    "work": ["face_seconds", "bulk_seconds_per_member", "bulk_fail_after", "mock_timeout_seconds"],
    "calls": ["general_limit", "device_limit", "window_seconds", "limited", "request_latency", "reissue_kills_old"],
    "choices": [
        "fixed_windows",
        "empty_periods",
        "timestep_max",
        "absent_faces_deleted",
        "mute_deletions",
        "words_in_label",
    ],
    "video": ["streaming_limit", "download_limit", "video_lag_seconds", "media_seconds"],
}


@console_page
def controls(request: HttpRequest, tenant_id: str = ALL_TENANTS) -> HttpResponse:
    """Return the settings (GET), or change one, for this tenant or for all (POST act=…)."""
    tenant = tenant_of(tenant_id) if tenant_id else None
    target = Target(tenant_id, words.words_for(request))
    acts = {name: act for name, act in ACTIONS.items() if name != "anew" or tenant is None}

    def show(forms: dict[str, FormState], status: int) -> HttpResponse:
        context = {"tenant": tenant, "page": "controls", "forms": forms} | _context(target, forms)
        return render(request, "controls", context, status)

    with behaviour.using_clock_of(tenant_id):
        return respond(request, acts, show, target)


def _context(target: Target, forms: dict[str, FormState]) -> dict[str, Any]:
    said = target.words
    left = [
        _fault_view(row, target)
        for row in store.list_remaining()
        if not target.key or row["tenant_id"] in (None, target.key)
    ]
    return {
        "now": clock.now(),
        "offset_seconds": behaviour.behaviour_of(target.key).clock_offset,
        "faults": left,
        "can_clear": any(fault["can_clear"] for fault in left),
        "operations": [(0, said["any_operation"]), *((row.number, f"{row.number} {row.name}") for row in CATALOGUE)],
        "fault_kinds": [(kind, said["fault_kinds"][kind]) for kind in FAULT_KINDS],
        "groups": list(_groups(target, forms.get("settings"))),
        "glance": None if target.key else summary.summary(),
    }


def _fault_view(fault: dict[str, Any], target: Target) -> dict[str, Any]:
    """Return a fault for display, without default values."""
    plain = {"id", "tenant_id", "operation", "kind", "left"}
    usual = {name: shape.default for name, shape in FAULT_KINDS[fault["kind"]].model_fields.items()}
    values = {name: value for name, value in fault.items() if name not in plain and value != usual.get(name)}
    number = fault["operation"]
    return {
        "id": fault["id"],
        "can_clear": not target.key or fault["tenant_id"] == target.key,
        "whom": fault["tenant_id"] or target.words["everybody"],
        "operation": CATALOGUE.find_by_number(number).name if number else target.words["any_operation"],
        "word": target.words["fault_kinds"][fault["kind"]],
        "left": fault["left"],
        "values": [(name, _format_number(value)) for name, value in values.items()],
    }


def _groups(target: Target, form: FormState | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield (word, settings) of each group. A setting shows the typed value, else the stored one."""
    kept = Settings.objects.filter(key=target.key).values_list("values", flat=True).first() or {}
    inherited = behaviour.behaviour_of(ALL_TENANTS) if target.key else behaviour.defaults()
    named = {name for group in _GROUPS.values() for name in group} | {CLOCK_SETTING}
    groups = _GROUPS | {"other": [name for name in Behaviour.model_fields if name not in named]}
    for group, names in groups.items():
        shown = [_setting(name, kept, getattr(inherited, name), form, target) for name in names]
        if shown:
            yield target.words["setting_groups"][group], shown


def _setting(name: str, kept: dict[str, Any], default: Any, form: FormState | None, target: Target) -> dict[str, Any]:
    value = form.values.get(name, "") if form else _format_number(kept.get(name, ""))
    if isinstance(value, bool):
        value = str(value).lower()
    said = target.words
    is_switch = Behaviour.model_fields[name].annotation is bool
    if is_switch:
        default = said["yes"] if default else said["no"]
    return {
        "name": name,
        "word": said["settings"].get(name, name),
        "value": value,
        "default": said["never"] if default is None else _format_number(default),
        "is_switch": is_switch,
        "is_set": name in kept,
        "error": form[name].error if form else "",
    }


def _format_number(value: Any) -> Any:
    """Return a number as a person would type it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
