"""The data of the guests' pages: everything about one guest, and the results of one form."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.limits import GUEST_DELETED_AFTER_DAYS
from portal.base.timers.clock import database_now
from portal.base.ui.chips import Chip
from portal.base.ui.outcome_lines import OutcomeLine
from portal.domain.budget.priorities import Priority
from portal.domain.intents.states import State
from portal.domain.intents.words import outcome_of
from portal.domain.keys import states as key_states
from portal.domain.mirror import single_reads
from portal.domain.mirror.fields.guests import AREAS, GRACE, KEYS, REMARKS
from portal.domain.mirror.fields.values import mask_email
from portal.domain.mirror.models import Guest
from portal.domain.visits.days import Day
from portal.domain.visits.models import Stage, Visit
from portal.domain.visits.queries import code_data_by_visit, guest_of, presets
from portal.domain.visits.rows import VisitRow, row_of
from portal.domain.visits.visit_status import status_of
from portal.guests import deactivation, queries, refusal_words
from portal.guests.forms.change import ExtendForm
from portal.guests.places import GuestPlaces
from tenants.access import TenantRequest
from tenants.roles import Permission

# Data written or read this recently is not read again when a page is opened.
_MAX_AGE = timedelta(minutes=2)
_RELATED = ("by", "intent__by", "intent__tenant__environment", "preset")


def guest_context(request: TenantRequest, visit: Visit) -> dict[str, Any]:
    """Return what visit and mirror have about the guest."""
    can = request.access.can
    guest, now = guest_of(visit), timezone.now()
    detail = guest.detail if guest is not None and isinstance(guest.detail, dict) else {}
    known = GuestPlaces()
    if guest is not None and guest.gone_at is None:  # saves a query: the code is loaded already
        visit.__dict__["code_data"] = guest.qrcode_data or ""
    areas, keys = detail.get(AREAS.name), detail.get(KEYS.name)
    email = guest.email if guest is not None and guest.email else ""
    return {
        "visit": visit,
        "guest": guest,
        "known": known,
        "state": code_state(visit),
        "presence": _presence_row(request, visit, now),
        "areas": known.area_names(areas) if areas is not None else None,
        **_key_context(request, known, keys, visit.guest_id or ""),
        "remarks": detail.get(REMARKS.name) or "",
        "grace": detail.get(GRACE.name),
        "key_end": guest.key_return_date_end if guest is not None and keys else None,
        "email": email if can(Permission.GUESTS_DESK) else mask_email(email),
        "is_over": visit.use_date_end <= now,
        "deleted_at": visit.use_date_end + timedelta(days=GUEST_DELETED_AFTER_DAYS),
        "unknown": sorted(guest.extra.items()) if guest is not None else [],
        "may_desk": can(Permission.GUESTS_DESK),
        "may_read": visit.gone_at is None,
        "may_change": can(Permission.GUESTS_DESK) and visit.gone_at is None and guest is not None,
        "may_cut": may_deactivate(visit),
        "given_up": refusal_words.still_active_text(visit.cut_intent) if deactivation.has_no_way_left(visit) else "",
        "extend": ExtendForm(visit=visit, presets=presets()),
        "fresh": _is_fresh(guest, now),
    }


def _key_context(
    request: TenantRequest, known: GuestPlaces, keys: list[dict[str, Any]] | None, guest_id: str
) -> dict[str, Any]:
    """Return `keys` and `key_states` of a guest.

    `keys`: the names of the keys if the state of some is unknown; None if they are not loaded. `key_states`: (key,
    state, whether this guest has it) of each, worded as on the keys' pages.
    """
    words = request.tenant.environment.catalogue.states
    rows = key_states.find_listed(keys or [])
    states = [(key, key_states.state_of(key, words), bool(guest_id) and key.holder_id == guest_id) for key in rows]
    missing = len(states) < sum(len(each.get("units_no_list") or ()) for each in keys or ())
    names = known.key_names(keys) if keys and missing else []
    return {"keys": None if keys is None else names, "key_states": states}


def may_deactivate(visit: Visit) -> bool:
    """Return whether the code can be deactivated.

    It can if it works, is being deactivated, or an unresolved change may have given an ended code a later end.
    """
    if visit.gone_at is not None:
        return False
    works = visit.use_date_end > timezone.now() and not visit.is_cut
    return works or visit.may_still_open or queries.has_open_change(visit)


def _presence_row(request: TenantRequest, visit: Visit, now: datetime) -> VisitRow:
    """Return the visit's state and the possible actions, as on today's board."""
    visit.standing = status_of(visit, now)  # type: ignore[attr-defined]  # as rows of a list have it
    may_act = request.access.can(Permission.GUESTS_DESK)
    return row_of(request.tenant.slug, visit, Day.today(), may_act=may_act)


def _is_fresh(guest: Guest | None, now: datetime) -> bool:
    """Return whether everything, including the code, was read moments ago."""
    if guest is None or guest.detail_read_at is None or not guest.qrcode_data:
        return False
    return guest.detail_read_at > now - _MAX_AGE


def full_context(request: TenantRequest, visit: Visit) -> dict[str, Any]:
    """Return the data of the whole page: the guest, recent requests to the service, and changes by staff."""
    asked = queries.requests_about(visit)
    pressing = asked[:1] if asked and asked[0].state != State.SUCCEEDED else []
    shown = guest_context(request, visit)
    return shown | {
        "pressing": pressing,
        "intents": asked[len(pressing) :],
        "changes": queries.staff_changes(request.access, visit, asked, shown["known"]),
    }


def code_state(visit: Visit) -> Chip:
    """Return the state of the code at this moment."""
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


def refresh_guest(visit: Visit) -> str:
    """Update mirror and visit with one call. Return the reason if that failed, otherwise an empty text."""
    at, gone = database_now(), _("This guest no longer exists in the service.")
    try:
        guest = single_reads.read_for_page(
            lambda line: single_reads.read_guest(line, str(visit.guest_id), Priority.PEOPLE), gone
        )
    except single_reads.ReadFailed as why:
        if why.is_gone:
            Visit.objects.filter(pk=visit.pk, gone_at__isnull=True).update(gone_at=database_now())
        return str(why)
    Visit.objects.filter(pk=visit.pk).update(gone_at=None)
    deactivation.apply_reading(visit, guest, at)
    return ""


@dataclass(frozen=True)
class PartyLine:
    """One guest of a form: the visit and its result line. The page refreshes all lines together."""

    visit: Visit
    outcome: OutcomeLine | None

    @property
    def is_pending(self) -> bool:
        """Return whether the result may still change without staff."""
        if self.visit.stage != Stage.ASKED:
            return False
        return self.outcome is None or not self.outcome.is_final

    @property
    def needs_manual_action(self) -> bool:
        """Return whether the result is uncertain and reading cannot resolve it."""
        intent = self.visit.intent
        return intent is not None and intent.state == State.UNCERTAIN and intent.due_at is None

    @property
    def may_retry(self) -> bool:
        """Return whether the guest has no code for certain, so that a new request is safe."""
        return self.visit.stage == Stage.NOT_ISSUED


def party_lines(party_id: uuid.UUID) -> list[PartyLine]:
    """Return what this form issued, in its order; empty if it issued nothing."""
    return lines_of(Visit.objects.filter(party=party_id).select_related(*_RELATED).order_by("pk"))


def lines_of(visits: Iterable[Visit]) -> list[PartyLine]:
    """Return a line for each visit, with all codes loaded at once."""
    rows = list(visits)
    codes = code_data_by_visit(rows)
    for visit in rows:
        visit.__dict__["code_data"] = codes.get(visit.pk, "")
    return [PartyLine(visit, _outcome_of(visit)) for visit in rows]


def _outcome_of(visit: Visit) -> OutcomeLine | None:
    return replace(outcome_of(visit.intent), poll_url="") if visit.intent is not None else None
