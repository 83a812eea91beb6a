"""What the desk's form begins with: presets, a visit that is to be issued again, or what an address says."""

import json
from typing import Any

from django.http import HttpRequest

from portal.core.mirror.fields.guests import AREAS, EMAIL, GRACE, KEYS, METHOD, REMARKS, RESERVE
from portal.core.visits import queries
from portal.core.visits.models import Preset, Stage, Visit
from portal.guests import hours, places
from portal.guests.forms import Desk, filling
from portal.guests.places import Places


def desk() -> Desk:
    """Presets, places and settings of the tenant in scope."""
    return Desk(queries.presets(), Places(), queries.desk_settings())


def initial(request: HttpRequest) -> dict[str, Any]:
    """Values for a fresh form: `?preset=3`, `?host=…`, `?name=…`, or `?again=12` for a visit that got no code."""
    given = {name: request.GET[name][:200] for name in ("name", "host", "company", "preset") if name in request.GET}
    again = request.GET.get("again", "")
    if again.isdecimal() and len(again) < 19:
        visit = Visit.objects.select_related("intent").filter(pk=again).exclude(stage=Stage.ASKED).first()
        given |= of_visit(visit) if visit is not None else {}
    return {name: value for name, value in given.items() if "\x00" not in str(value)}


def of_visit(visit: Visit) -> dict[str, Any]:
    """A visit as the form's values; nothing of it is typed again, and its code is a new one."""
    values: dict[str, Any] = {"name": visit.guest_name, "company": visit.company, "host": visit.host_name}
    now = hours.now()
    start = visit.use_date_start if visit.use_date_start > now else None
    if visit.use_date_end > now:
        values |= {"start": start, "until": hours.shown(visit.use_date_end, start or now)}
    if visit.preset_id is not None:
        values["preset"] = str(visit.preset_id)
    body = visit.intent.body if visit.intent is not None else None
    return values | (_of_body(body) if body else {})


def _of_body(body: dict[str, Any]) -> dict[str, Any]:
    method = body.get(METHOD.name) or {}
    return {
        AREAS.input: list(body.get(AREAS.name, [])),
        KEYS.input: places.values_of(body.get(KEYS.name, [])),
        GRACE.input: body.get(GRACE.name, 0),
        EMAIL.input: method.get(EMAIL.name) or body.get(EMAIL.name, ""),
        METHOD.input: "mail" if EMAIL.name in method else "direct",
        REMARKS.input: method.get(REMARKS.name, ""),
        RESERVE.input: body.get(RESERVE.name, False),
    }


def for_script(desk: Desk) -> str:
    """What the page's script needs to show the chosen preset at once: `static/js/guests.js`."""
    return json.dumps({str(preset.pk): _told(preset) for preset in desk.presets} | {"": _told(None)})


def _told(preset: Preset | None) -> dict[str, Any]:
    now = hours.now()
    japanese, english = filling(preset, now, "ja"), filling(preset, now, "en")
    minutes = int(hours.FALLBACK.total_seconds() // 60) if preset is None else preset.minutes
    return {
        "minutes": minutes,
        "until": f"{preset.until:%H:%M}" if preset is not None and preset.until is not None else None,
        "area_ids": japanese["area_ids"],
        "keys": japanese["keys"],
        "grace_minutes": japanese["grace_minutes"],
        "ja": japanese["remarks"],
        "en": english["remarks"],
    }
