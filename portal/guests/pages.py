"""What the pages of guests show: all about one guest, and what became of what one form asked for."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.limits import GUEST_DELETED_AFTER_DAYS
from portal.core.budget.priorities import Priority
from portal.core.intents.states import State
from portal.core.intents.words import story
from portal.core.keys import states as key_states
from portal.core.mirror import reading
from portal.core.mirror.fields.guests import AREAS, GRACE, KEYS, REMARKS
from portal.core.mirror.fields.values import address
from portal.core.mirror.models import Guest
from portal.core.timers.clock import database_now
from portal.core.ui.chips import Chip
from portal.core.ui.outcomes import Outcome
from portal.core.visits.days import Day
from portal.core.visits.models import Stage, Visit
from portal.core.visits.queries import data_of_all, guest_of, presets
from portal.core.visits.rows import Row, row_of
from portal.core.visits.standing import standing
from portal.guests import cutting, explaining, queries
from portal.guests.forms.change import ExtendForm
from portal.guests.places import Places
from tenants.access import TenantRequest
from tenants.roles import Permission

# What we wrote or read ourselves this short while ago need not be read again for whoever opens the page.
_FRESH = timedelta(minutes=2)
_WITH = ("by", "intent__by", "intent__tenant__environment", "preset")


def facts(request: TenantRequest, visit: Visit) -> dict[str, Any]:
    """What visit and mirror know of the guest itself."""
    can = request.access.can
    guest, now = guest_of(visit), timezone.now()
    detail = guest.detail if guest is not None and isinstance(guest.detail, dict) else {}
    known = Places()
    if guest is not None and guest.gone_at is None:  # what is known of the code is here already
        visit.__dict__["code_data"] = guest.qrcode_data or ""
    areas, keys = detail.get(AREAS.name), detail.get(KEYS.name)
    email = guest.email if guest is not None and guest.email else ""
    return {
        "visit": visit,
        "guest": guest,
        "known": known,
        "state": state_of(visit),
        "presence": presence_of(request, visit, now),
        "areas": known.area_names(areas) if areas is not None else None,
        **_keys(request, known, keys, visit.guest_id or ""),
        "remarks": detail.get(REMARKS.name) or "",
        "grace": detail.get(GRACE.name),
        "key_end": guest.key_return_date_end if guest is not None and keys else None,
        "email": email if can(Permission.GUESTS_DESK) else address(email),
        "is_over": visit.use_date_end <= now,
        "deleted_at": visit.use_date_end + timedelta(days=GUEST_DELETED_AFTER_DAYS),
        "unknown": sorted(guest.extra.items()) if guest is not None else [],
        "may_desk": can(Permission.GUESTS_DESK),
        "may_read": visit.gone_at is None,
        "may_change": can(Permission.GUESTS_DESK) and visit.gone_at is None and guest is not None,
        "may_cut": may_cut(visit),
        "given_up": explaining.why_it_lives(visit.cut_intent) if cutting.is_given_up(visit) else "",
        "extend": ExtendForm(visit=visit, presets=presets()),
        "fresh": _is_fresh(guest, now),
    }


def _keys(request: TenantRequest, known: Places, keys: list[dict[str, Any]] | None, guest_id: str) -> dict[str, Any]:
    """`keys`: a guest's keys by name where the state of some is not known; None before they are loaded. `key_states`:
    (key, state, whether this guest has it) of each, as the keys' pages say.
    """
    words = request.tenant.environment.catalogue.states
    rows = key_states.of_list(keys or [])
    states = [(key, key_states.state_of(key, words), bool(guest_id) and key.holder_id == guest_id) for key in rows]
    missing = len(states) < sum(len(each.get("units_no_list") or ()) for each in keys or ())
    names = known.key_names(keys) if keys and missing else []
    return {"keys": None if keys is None else names, "key_states": states}


def may_cut(visit: Visit) -> bool:
    """Whether there is something to cut short: the code works, is being cut, or a change nobody knows of yet may have
    given an ended one a later end.
    """
    if visit.gone_at is not None:
        return False
    works = visit.use_date_end > timezone.now() and not visit.is_cut
    return works or visit.may_still_open or queries.is_changing(visit)


def presence_of(request: TenantRequest, visit: Visit, now: datetime) -> Row:
    """Where the visit stands, and what can be done about it, as on the board of the day."""
    visit.standing = standing(visit, now)  # type: ignore[attr-defined]  # as rows of a list have it
    may_act = request.access.can(Permission.GUESTS_DESK)
    return row_of(request.tenant.slug, visit, Day.today(), may_act=may_act)


def _is_fresh(guest: Guest | None, now: datetime) -> bool:
    """Whether nothing would be learned by reading: everything is known, the code too, since a moment ago."""
    if guest is None or guest.detail_read_at is None or not guest.qrcode_data:
        return False
    return guest.detail_read_at > now - _FRESH


def context(request: TenantRequest, visit: Visit) -> dict[str, Any]:
    """The whole page: the guest, what was lately asked of the service, and what staff changed."""
    asked = queries.asked_about(visit)
    pressing = asked[:1] if asked and asked[0].state != State.SUCCEEDED else []
    shown = facts(request, visit)
    return shown | {
        "pressing": pressing,
        "intents": asked[len(pressing) :],
        "changes": queries.staff_changes(request.access, visit, asked, shown["known"]),
    }


def state_of(visit: Visit) -> Chip:
    """Where now lies in the hours of the code."""
    now = timezone.now()
    if visit.may_still_open:
        return Chip("held_open", _("May still open doors"))
    if visit.gone_at is not None:
        return Chip("ended", _("Deleted from the service"))
    if visit.is_cut:
        return Chip("stopped", _("Deactivated"))
    if visit.use_date_end <= now:
        return Chip("ended", _("Ended"))
    return Chip("not_yet") if visit.use_date_start > now else Chip("valid", _("Active"))


def read_again(visit: Visit) -> str:
    """Bring mirror and visit up to date by one call. Returns why that was not possible, or an empty text."""
    at, gone = database_now(), _("This guest no longer exists in the service.")
    try:
        guest = reading.read_for_page(lambda line: reading.read_guest(line, str(visit.guest_id), Priority.PEOPLE), gone)
    except reading.NotRead as why:
        if why.is_gone:
            Visit.objects.filter(pk=visit.pk, gone_at__isnull=True).update(gone_at=database_now())
        return str(why)
    Visit.objects.filter(pk=visit.pk).update(gone_at=None)
    cutting.heard(visit, guest, at)
    return ""


@dataclass(frozen=True)
class Line:
    """One guest of a form: the visit, and its outcome line (it does not follow itself: the page asks for all)."""

    visit: Visit
    outcome: Outcome | None

    @property
    def is_going(self) -> bool:
        """Whether this may still change by itself."""
        if self.visit.stage != Stage.ASKED:
            return False
        return self.outcome is None or not self.outcome.is_final

    @property
    def needs_a_person(self) -> bool:
        """Uncertain, and reading cannot tell."""
        intent = self.visit.intent
        return intent is not None and intent.state == State.UNCERTAIN and intent.due_at is None

    @property
    def may_go_again(self) -> bool:
        """Surely without a code: it may be asked for again."""
        return self.visit.stage == Stage.NOT_ISSUED


def party(party_id: uuid.UUID) -> list[Line]:
    """What this form issued, in its order; empty for one that issued nothing."""
    return lines_of(Visit.objects.filter(party=party_id).select_related(*_WITH).order_by("pk"))


def lines_of(visits: Iterable[Visit]) -> list[Line]:
    """A line for each, with all their codes looked up at once."""
    rows = list(visits)
    codes = data_of_all(rows)
    for visit in rows:
        visit.__dict__["code_data"] = codes.get(visit.pk, "")
    return [Line(visit, _told(visit)) for visit in rows]


def _told(visit: Visit) -> Outcome | None:
    return replace(story(visit.intent), poll_url="") if visit.intent is not None else None
