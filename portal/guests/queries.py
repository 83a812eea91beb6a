"""What the guests' pages show: a guest, the results of a form, changes, and why codes are refused."""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.limits import GUEST_DELETED_AFTER_DAYS
from accessapi.meanings import RefusalCause
from accessapi.operations import Contract
from portal.base.timers.clock import database_now
from portal.base.ui.chips import Chip
from portal.base.ui.outcome_lines import OutcomeLine
from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences, join_values
from portal.domain.alerts import overdue_keys as key_states
from portal.domain.budget.priorities import Priority
from portal.domain.intents import queries as intents
from portal.domain.intents import refusals
from portal.domain.intents.models import UNDER_WAY, Intent, Reason, State, target_of
from portal.domain.intents.refusals import Explanation, service_text_of
from portal.domain.intents.words import outcome_of
from portal.domain.jobs import queries
from portal.domain.people.fields import mask_email
from portal.domain.people.guest_fields import AREAS, CODE, GRACE, GUEST, KEYS, REMARKS
from portal.domain.people.models import Guest
from portal.domain.sync import single_reads
from portal.domain.visits.days import Day
from portal.domain.visits.models import By, Stage, Visit
from portal.domain.visits.queries import code_data_by_visit, guest_of, presets
from portal.domain.visits.visit_status import VisitRow, row_of, status_of
from portal.guests import deactivation
from portal.guests.forms import ExtendForm
from portal.guests.places import GuestPlaces
from tenants.access import Access, TenantRequest
from tenants.audit_log.changes import RecordedChange, changed_fields
from tenants.models import AuditEntry
from tenants.roles import Permission

_PRESENCE = ("arrived_at", "arrived_by", "left_at", "left_by")
# Fields that only the portal stores.
_LABELS = {
    "company": gettext_lazy("Company"),
    "host_name": gettext_lazy("Host"),
    "arrived_at": gettext_lazy("Arrived"),
    "arrived_by": gettext_lazy("Recorded by"),
    "left_at": pgettext_lazy("guests", "Left"),
    "left_by": gettext_lazy("Recorded by"),
}


def requests_about(visit: Visit) -> list[Intent]:
    """Return the newest requests about this guest by anyone, including its creation."""
    condition = Q(pk=visit.intent_id)
    if visit.guest_id is not None:
        condition |= Q(target=target_of("guest", visit.guest_id))
    return list(intents.latest_intents().filter(condition).select_related("tenant__environment")[:8])


def has_open_change(visit: Visit) -> bool:
    """Return whether a change of this guest is under way or uncertain, so that the known end may be wrong."""
    unknown = Intent.objects.filter(operation="update_guest", state__in=[*UNDER_WAY, State.UNCERTAIN])
    return visit.guest_id is not None and unknown.filter(target=target_of("guest", visit.guest_id)).exists()


def staff_changes(access: Access, visit: Visit, intents: list[Intent], known: GuestPlaces) -> list[RecordedChange]:
    """Return what staff did to this guest, newest first, each with its list. Results are shown with the intents."""
    condition = Q(target=f"visit:{visit.pk}") | Q(intent_id__in=[str(intent.pk) for intent in intents])
    if visit.guest_id is not None:
        condition |= Q(target=target_of("guest", visit.guest_id))
    if visit.party is not None:
        condition |= Q(target=f"party:{visit.party}")
    rows = AuditEntry.objects.filter(condition).exclude(action__contains="_guest.").select_related("support_session")
    found = [(entry, changed_fields(entry)) for entry in rows.select_related("by").order_by("-at", "-pk")[:20]]
    for entry, _fields in found:
        entry.guest = visit.guest_name
    pages = queries.job_pages_of(access, [entry.intent_id for entry, _fields in found])
    return [
        RecordedChange(entry, [_readable_change(known, *field) for field in fields], pages.get(entry.intent_id, ""))
        for entry, fields in found
    ]


def _readable_change(known: GuestPlaces, name: str, *values: str) -> tuple[str, str, str]:
    """Return a changed field with its label and values as the page shows them."""
    if name in _PRESENCE:
        values = tuple(_presence_text(value) for value in values)
    elif name in (AREAS.name, KEYS.name):
        values = tuple(_place_names(known, name, value) for value in values)
    elif GUEST.get(name):
        values = tuple(GUEST.format_value(name, value) for value in values)
    return str(_LABELS.get(name) or GUEST.label_of(name)), values[0], values[1]


def _presence_text(value: str) -> str:
    """Return an audit entry's value about arrival or departure (a time, or who recorded it) as text."""
    if value in By.values:
        return str(By(value).label)
    try:
        return f"{local(datetime.fromisoformat(value)):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return value


def _place_names(known: GuestPlaces, name: str, value: str) -> str:
    """Return the names of the areas or keys in an audit entry."""
    try:
        listed = json.loads(value) if value else []
        return join_values(known.area_names(listed) if name == AREAS.name else known.key_names(listed))
    except (ValueError, TypeError, AttributeError):
        return value


def last_refusal() -> Intent | None:
    """Return the newest finished creation of a guest if it was refused."""
    newest = Visit.objects.filter(intent__finished_at__isnull=False).order_by("-pk").select_related("intent").first()
    intent = newest.intent if newest else None
    return intent if intent is not None and intent.http_status is not None and intent.http_status >= 400 else None


def is_refused_to_tenant(intent: Intent) -> bool:
    """Return whether the service refuses guest codes to the whole tenant.

    Causes are a missing QR option (also if the contract is unnamed), a missing permission, or an unexplained 403.
    """
    if refusals.missing_contract(intent) == Contract.QR or refusals.is_refused_for(intent, RefusalCause.SCOPE):
        return True
    return intent.http_status == 403 and explain_refusal(intent) is None


def no_codes_text(intent: Intent) -> str:
    """Return the sentence for a refusal that `is_refused_to_tenant`."""
    if refusals.missing_contract(intent) == Contract.QR:
        return _("The contract has no QR option, so guest codes cannot be issued. Contact an owner.")
    if refusals.is_refused_for(intent, RefusalCause.SCOPE):
        return _("No code was issued: the connection has no permission for it. An owner can reconnect to add it.")
    return _("Guest codes are not available for this tenant. Contact an owner.")


def explain_refusal(intent: Intent) -> Explanation | None:
    """Return the explanation and the inputs that it is about; None for any other refusal."""
    contract = refusals.missing_contract(intent)
    if contract == Contract.DOOR:
        return AREAS.input_names, _(
            "No code was issued: the contract does not include door entry. Issue the code without areas."
        )
    if contract == Contract.KEY_BOX:
        return KEYS.input_names, _(
            "No code was issued: the contract does not include key boxes. Issue the code without keys."
        )
    if refusals.is_refused_for(intent, RefusalCause.SETTING) and (intent.body or {}).get(KEYS.name):
        return KEYS.input_names, _("Keys for guests must first be allowed for this key box on the member site.")
    if refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "qr"):
        return CODE.input_names, _(
            "No code was issued: this one is already in use. Send the form again to get another."
        )
    return None


def still_active_text(intent: Intent | None) -> str:
    """Return why a code could not be ended: in the service's words if it gave any, otherwise in ours."""
    refused = _("Every way to deactivate it was refused.")
    if intent is None or not intent.error_detail:
        return refused
    if not refusals.is_service_text(intent):
        reason = Reason(intent.reason).label if intent.reason in Reason.values else ""
        return join_sentences([reason, intent.error_detail])
    return join_sentences([refused, service_text_of(intent)])


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
        "given_up": still_active_text(visit.cut_intent) if deactivation.are_all_methods_refused(visit) else "",
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
    catalogue = request.tenant.environment.catalogue
    rows = key_states.find_listed(keys or [])
    states = [
        (key, key_states.state_of(key, catalogue.states), bool(guest_id) and key.holder_id == guest_id) for key in rows
    ]
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
    return works or visit.may_still_open or has_open_change(visit)


def _presence_row(request: TenantRequest, visit: Visit, now: datetime) -> VisitRow:
    """Return the visit's state and the possible actions, as on today's board."""
    visit.status = status_of(visit, now)  # type: ignore[attr-defined]  # as rows of a list have it
    may_act = request.access.can(Permission.GUESTS_DESK)
    return row_of(request.tenant.slug, visit, Day.today(), may_act=may_act)


def _is_fresh(guest: Guest | None, now: datetime) -> bool:
    """Return whether everything, including the code, was read moments ago."""
    if guest is None or guest.detail_read_at is None or not guest.qrcode_data:
        return False
    return guest.detail_read_at > now - _MAX_AGE


def full_context(request: TenantRequest, visit: Visit) -> dict[str, Any]:
    """Return the data of the whole page: the guest, recent requests to the service, and changes by staff."""
    intents = requests_about(visit)
    unfinished = intents[:1] if intents and intents[0].state != State.SUCCEEDED else []
    context = guest_context(request, visit)
    return context | {
        "unfinished": unfinished,
        "intents": intents[len(unfinished) :],
        "changes": staff_changes(request.access, visit, intents, context["known"]),
    }


def code_state(visit: Visit) -> Chip:
    """Return the state of the code at this moment."""
    now = timezone.now()
    if visit.may_still_open:
        return Chip("held_open", _("May still open doors"))
    if visit.gone_at is not None:
        return Chip("ended", _("No longer exists"))
    if visit.is_cut:
        return Chip("stopped", _("Deactivated"))
    if visit.use_date_end <= now:
        return Chip("ended", _("Ended"))
    return Chip("not_yet") if visit.use_date_start > now else Chip("valid", _("Active"))


def refresh_guest(visit: Visit) -> str:
    """Update mirror and visit with one call. Return the reason if that failed, otherwise an empty text."""
    at, gone = database_now(), _("This guest no longer exists.")
    try:
        guest = single_reads.read_for_page(
            lambda line: single_reads.read_guest(line, str(visit.guest_id), Priority.PEOPLE), gone
        )
    except single_reads.ReadFailed as why:
        if why.is_gone:
            Visit.objects.filter(pk=visit.pk, gone_at__isnull=True).update(gone_at=database_now())
        return why.text
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
        if self.visit.stage != Stage.REQUESTED:
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
