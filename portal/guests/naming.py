"""The names of guests in audit entries. The log holds only IDs; a visit has the name until its data is deleted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils.translation import ngettext

from portal.base.ui.url_lookup import is_row_number
from portal.domain.intents.models import target_of
from portal.domain.jobs.member_jobs import audit_filter_for_intents
from portal.domain.mirror.text_folding import fold
from portal.domain.visits.models import Visit
from tenants.models import AuditEntry
from tenants.sentences import TARGETS

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
    visits = Visit.objects.filter(Q(guest_id=named) | Q(name_key=fold(text))).order_by("-pk")
    rows = visits.values_list("pk", "guest_id", "party", "intent_id")[:_MOST_VISITS]
    targets, asked = set(), set()
    for pk, guest_id, party, intent_id in rows:
        targets |= {f"visit:{pk}"} | ({target_of("guest", guest_id)} if guest_id else set())
        targets |= {f"party:{party}"} if party else set()
        asked |= {str(intent_id)} if intent_id else set()
    return Q(target__in=targets) | Q(intent_id__in=asked) | audit_filter_for_intents(asked)


def guest_names_of(entries: Sequence[AuditEntry]) -> dict[int, str]:
    """Return the guests' names of each entry by its primary key, in one query for all entries."""
    asked = {entry.pk: signs for entry in entries if (signs := _guest_keys(entry))}
    known = _names_by_key({sign for signs in asked.values() for sign in signs})
    found = {}
    for entry in entries:
        visits = {pk: name for sign in asked.get(entry.pk, ()) for pk, name in known.get(sign, ())}
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
    wanted = Q()
    for kind, column in _COLUMNS.items():
        values = [value for each, value in signs if each == kind and _IS_VALID[kind](value)]
        wanted |= Q(**{f"{column}__in": values}) if values else Q()
    found: dict[GuestKey, list[tuple[int, str]]] = {}
    if wanted:
        rows = Visit.objects.filter(wanted).exclude(guest_name="").order_by("pk")
        for name, *values in rows.values_list("guest_name", *_COLUMNS.values()):
            for kind, value in zip(_COLUMNS, values, strict=True):
                found.setdefault((kind, str(value)), []).append((values[0], name))
    return found


def _names_text(found: Sequence[str], number: int) -> str:
    named = ", ".join(found[:_NAMED])
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
