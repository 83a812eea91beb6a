"""Register the app's parts that other apps run or show: warnings, search hits, and names for the audit log.

The audit log holds only IDs of guests; a visit has the name until its data is deleted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.restore import marking
from portal.base.ui import command_palette, frame, nav
from portal.base.ui.command_palette import Hit
from portal.base.ui.frame import Banner
from portal.base.ui.nav import NavEntry
from portal.base.ui.times import local
from portal.base.ui.url_lookup import is_row_number
from portal.base.ui.value_words import join_values
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.intents import handlers
from portal.domain.intents.models import Reason, target_of
from portal.domain.jobs.queries import audit_filter_for_intents
from portal.domain.people.text_folding import stored_forms
from portal.domain.sync import freshness
from portal.domain.visits.models import Preset, Visit
from portal.domain.visits.queries import find_by_guest_name
from portal.domain.visits.visit_status import visit_url
from portal.guests import deactivation, request_outcomes
from tenants.access import TenantRequest
from tenants.audit_log import queries, targets
from tenants.connections.oauth_grant import connected
from tenants.models import AuditEntry
from tenants.roles import Permission
from tenants.sentences import TARGETS, register_sentences, register_subject, register_targets

_MAX_BANNERS = 3
# The search finds guests of these last days. Older visits are in the month view.
_SEARCHED_DAYS = timedelta(days=8)


def code_banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield a banner for each deactivated code that may still open doors, for people with the desk's permission."""
    if not request.access.can(Permission.GUESTS_DESK):
        return
    found = deactivation.oldest_unconfirmed()
    for visit in found[:_MAX_BANNERS]:
        yield Banner(
            "alarm",
            _("%(name)s’s code may still open doors.") % {"name": visit},
            _unconfirmed_text(visit),
            icon="alert-triangle",
            since=visit.must_end_at,
            action=_("See what to do") if needs_manual_action(visit) else _("View"),
            action_url=visit_url(request.tenant.slug, visit),
            is_link=True,
        )
    more = len(found) - _MAX_BANNERS
    if more > 0:
        text = ngettext("%(n)d more code may still open doors.", "%(n)d more codes may still open doors.", more)
        yield Banner("alarm", text % {"n": more}, icon="alert-triangle")


def _unconfirmed_text(visit: Visit) -> str:
    if visit.guest_id is None:
        return _("It is not known yet whether a code was issued. If so, it will be deactivated.")
    if needs_manual_action(visit):
        return _("The portal cannot deactivate it. Someone needs to act.")
    return _("Not confirmed yet. Retrying automatically.")


def needs_manual_action(visit: Visit) -> bool:
    """Return whether the portal sends nothing more: every method was refused, or the requester lost the permission."""
    intent = visit.cut_intent
    return deactivation.are_all_methods_refused(visit) or (intent is not None and intent.reason == Reason.RIGHTS)


def find_guests(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield guests of the last days whose name or host contains every word of `text`, current and next ones first."""
    found = find_by_guest_name(text).filter(use_date_end__gt=timezone.now() - _SEARCHED_DAYS)
    for visit in found.only("tenant_id", "guest_id", "guest_name", "company", "use_date_start", "use_date_end")[
        : command_palette.MAX_HITS
    ]:
        hours = f"{local(visit.use_date_start):%m-%d %H:%M} – {local(visit.use_date_end):%m-%d %H:%M}"
        yield Hit(
            str(visit),
            visit_url(request.tenant.slug, visit),
            "qrcode",
            " · ".join(filter(None, (visit.company, hours))),
        )


# The most visits of one name to search the audit log for.
_MOST_VISITS = 500
# Guests of one entry that are named; the others are only counted.
_NAMED = 2
GuestKey = tuple[str, str]


def entries_about(text: str) -> Q:
    """Return the condition for audit entries about the guests that a text names, and about their lists.

    Guests are found by ID, or by name while it is stored.
    """
    if not text or "\x00" in text:
        return Q(pk=None)
    named = text.removeprefix(f"{TARGETS['guest']} ").removeprefix("guest:")
    visits = Visit.objects.filter(Q(guest_id=named) | Q(name_key__in=stored_forms(text))).order_by("-pk")
    rows = visits.values_list("pk", "guest_id", "party", "intent_id")[:_MOST_VISITS]
    targets, intent_ids = set(), set()
    for pk, guest_id, party, intent_id in rows:
        targets |= {f"visit:{pk}"} | ({target_of("guest", guest_id)} if guest_id else set())
        targets |= {f"party:{party}"} if party else set()
        intent_ids |= {str(intent_id)} if intent_id else set()
    return Q(target__in=targets) | Q(intent_id__in=intent_ids) | audit_filter_for_intents(intent_ids)


def guest_names_of(entries: Sequence[AuditEntry]) -> dict[int, str]:
    """Return the guests' names of each entry by its primary key, in one query for all entries."""
    signs_by_entry = {entry.pk: signs for entry in entries if (signs := _guest_keys(entry))}
    known = _names_by_key({sign for signs in signs_by_entry.values() for sign in signs})
    found = {}
    for entry in entries:
        visits = {pk: name for sign in signs_by_entry.get(entry.pk, ()) for pk, name in known.get(sign, ())}
        if visits:
            found[entry.pk] = _names_text(list(visits.values()), _guest_count(entry))
    return found


def _guest_keys(entry: AuditEntry) -> list[GuestKey]:
    """Return the keys to find an entry's guests by: the visits that it lists, otherwise its target or intent."""
    kind, _colon, name = entry.target.partition(":")
    if kind in _COLUMNS and name:
        listed = entry.after.get("visits") if isinstance(entry.after, dict) else None
        return [("visit", str(pk)) for pk in listed] if isinstance(listed, list) else [(kind, name)]
    return [("intent", entry.intent_id)] if entry.intent_id and not entry.target else []


def _guest_count(entry: AuditEntry) -> int:
    """Return the number of guests of an entry. An entry about several guests names one and stores the number."""
    number = entry.after.get("guests") if isinstance(entry.after, dict) else None
    return number if isinstance(number, int) else 1


def _names_by_key(signs: Iterable[GuestKey]) -> dict[GuestKey, list[tuple[int, str]]]:
    """Return (visit, name) for each key whose name is still stored."""
    condition = Q()
    for kind, column in _COLUMNS.items():
        values = [value for each, value in signs if each == kind and _IS_VALID[kind](value)]
        condition |= Q(**{f"{column}__in": values}) if values else Q()
    found: dict[GuestKey, list[tuple[int, str]]] = {}
    if condition:
        rows = Visit.objects.filter(condition).exclude(guest_name="").order_by("pk")
        for name, *values in rows.values_list("guest_name", *_COLUMNS.values()):
            for kind, value in zip(_COLUMNS, values, strict=True):
                found.setdefault((kind, str(value)), []).append((values[0], name))
    return found


def _names_text(found: Sequence[str], number: int) -> str:
    named = join_values(found[:_NAMED])
    if more := max(number, len(found)) - min(len(found), _NAMED):
        return ngettext("%(names)s and %(n)d other", "%(names)s and %(n)d others", more) % {"names": named, "n": more}
    return named


def _is_uuid(value: str) -> bool:
    try:
        return bool(UUID(value))
    except ValueError:
        return False


# The visits' column for each kind of key, and the check that a value can occur in it at all.
_COLUMNS = {"visit": "pk", "guest": "guest_id", "party": "party", "intent": "intent_id"}
_IS_VALID: Mapping[str, Callable[[str], bool]] = {
    "visit": is_row_number, "guest": lambda value: "\x00" not in value, "party": _is_uuid, "intent": is_row_number,
}  # fmt: skip


nav.register(NavEntry("guests", gettext_lazy("Guests"), "qrcode", "guests:index", Permission.GUESTS_VIEW))
command_palette.register(
    "guests",
    gettext_lazy("Guests"),
    find_guests,
    Permission.GUESTS_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.GUESTS),
)
frame.register_banners(code_banners, rows=lambda: deactivation.unconfirmed_visits().only("pk"))
queries.register_finder(guest_names_of)
queries.register_search(entries_about)

handlers.register("create_guest", on_finished=request_outcomes.on_created, reconcile=request_outcomes.find_created)
handlers.register("update_guest", on_finished=request_outcomes.on_updated, reconcile=request_outcomes.check_updated)
events.subscribe(MirrorKind.GUESTS, request_outcomes.on_guests)

connected.connect(deactivation.on_connected, dispatch_uid="guests")
marking.register_timer("codes", deactivation.unconfirmed_visits, "cut_due_at")
deactivation.ENDS.register()


register_subject("guests", gettext_lazy("Guests"), "guest guests create_guest update_guest preset desk expected")
register_sentences(
    {
        "guest.issue": gettext_lazy("Issue a code: %(guest)s"),
        "guest.change": gettext_lazy("Change guest: %(guest)s"),
        "guest.extend": gettext_lazy("Extend: %(guest)s"),
        "guest.cut_short": gettext_lazy("Code deactivated: %(guest)s"),
        "guest.noted": gettext_lazy("Company and host changed: %(guest)s"),
        "guest.received_without_code": gettext_lazy("Checked in without a code: %(guest)s"),
        "preset.saved": gettext_lazy("Preset saved: %(name)s"),
        "preset.default": gettext_lazy("Preset made the default: %(name)s"),
        "preset.deleted": gettext_lazy("Preset deleted: %(name)s"),
    }
)
register_targets({"guest": gettext_lazy("Guest"), "party": gettext_lazy("Guests"), "preset": gettext_lazy("Preset")})
targets.register_names("preset", Preset, "pk", "name")
