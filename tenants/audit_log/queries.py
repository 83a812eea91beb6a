"""Read the audit log, newest first, in pages: one row per action.

A request to the service leaves one entry when it is created and another for its outcome, with the same `intent_id`.
Lists leave out the outcome. The page of the first entry shows it, and its row shows the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date, datetime, time, timedelta

from django.core.signing import BadSignature, Signer
from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.utils import timezone

from tenants import sentences
from tenants.audit_log import finding, targets
from tenants.audit_log.finding import ActPosition, ActSpan
from tenants.models import AuditEntry, AuditKind

# Returns names of people by the IDs of the entries that are about them. Makes one query, or none if no entry matches.
NameFinder = Callable[[Sequence[AuditEntry]], Mapping[int, str]]
_finders: list[NameFinder] = []


def register_finder(finder: NameFinder) -> None:
    """Register `finder` to find names for entries. Apps call it at start."""
    if finder not in _finders:
        _finders.append(finder)


def fill_names(entries: Sequence[AuditEntry]) -> None:
    """Set on each entry the name of the person it is about. An entry that cannot be decrypted keeps its sentence."""
    readable = [entry for entry in entries if entry.is_readable]
    for finder in _finders:
        found = finder(readable)
        for entry in entries:
            entry.guest = found.get(entry.pk, entry.guest)


PAGE_SIZE = 50
_signer = Signer(salt="tenants.audit_log.cursor")
_LAST_CHARACTER = "\U0010ffff"
# "create_member" is the request, "create_member.failed" its outcome. A person's decision is a separate action.
_IS_OUTCOME = ~Q(intent_id="") & Q(action__contains=".") & ~Q(action__startswith="intent.")

# The opposite as a CASE, of which PostgreSQL estimates that half of the rows match: so it walks the index from the
# newest row.
_IS_ACT = Case(When(_IS_OUTCOME, then=Value(False)), default=Value(True), output_field=BooleanField())

# Returns a condition for entries whose target matches a text, by data that the audit log does not hold.
TargetSearch = Callable[[str], Q]
_searches: list[TargetSearch] = []


def register_search(search: TargetSearch) -> None:
    """Register a search for targets. Apps call it at start."""
    if search not in _searches:
        _searches.append(search)


@dataclass(frozen=True)
class AuditFilter:
    """The filter. `about` is one of ABOUT; `result` is how the action ended ("succeeded", "failed", …)."""

    about: str = ""
    result: str = ""
    person: str = ""
    target: str = ""
    since: date | None = None
    until: date | None = None
    support_only: bool = False

    @property
    def count(self) -> int:
        """Return how many filters are in force."""
        return sum(bool(value) for value in astuple(self))


@dataclass(frozen=True)
class AuditPage:
    """Up to 50 actions, and the cursor of the next page, if there is one."""

    entries: list[AuditEntry]
    next_cursor: str


def page(audit_filter: AuditFilter, cursor: str = "") -> AuditPage:
    """Return actions of the current tenant that are older than the cursor. An invalid cursor starts from the newest."""
    found = _find_newest(audit_filter, PAGE_SIZE + 1, _read_cursor(cursor))
    entries = _complete(found[:PAGE_SIZE])
    targets.fill_target_names(entries)
    return AuditPage(entries, _write_cursor(entries[-1]) if len(found) > PAGE_SIZE else "")


def find_actions() -> QuerySet[AuditEntry]:
    """Return one entry for each action in the current tenant, without outcomes of requests."""
    return AuditEntry.objects.exclude(_IS_OUTCOME)


def newest_actions(count: int) -> list[AuditEntry]:
    """Return the newest actions of the current tenant."""
    return _complete(_find_newest(AuditFilter(), count))


def entries_of_action(entry: AuditEntry) -> list[AuditEntry]:
    """Return the other entries of the same action, oldest first: the request, its outcome, a person's decision.

    All of them, the given one too, are completed as in lists.
    """
    same = AuditEntry.objects.filter(intent_id=entry.intent_id).exclude(pk=entry.pk).select_related("by")
    found = list(same.order_by("at", "pk")) if entry.intent_id else []
    _complete([entry, *found])
    targets.fill_target_names([entry])
    return found


def _find_newest(audit_filter: AuditFilter, limit: int, before: ActPosition | None = None) -> list[AuditEntry]:
    """Return the newest actions that match the filter, older than a position. An outcome counts for its request."""
    span = ActSpan(
        since=_midnight(audit_filter.since) if audit_filter.since else None,
        until=_midnight(audit_filter.until) + timedelta(days=1) if audit_filter.until else None,
        before=before,
    )
    if replace(audit_filter, since=None, until=None) == AuditFilter():
        rows = span.filter(AuditEntry.objects.filter(_IS_ACT)).order_by("-act_at", "-act_id")[:limit]
        return list(rows.select_related("by", "support_session"))
    kinds = _kinds_for(audit_filter)
    found = finding.find_by_kinds(
        kinds.filter(_by_target_kind(audit_filter.target)) if audit_filter.target else kinds, span, limit
    )
    if audit_filter.target:
        codes, known = _by_target_code(audit_filter.target), _by_registered_searches(audit_filter.target)
        found += finding.find_by_targets(codes | known, kinds, span, limit, recent_first=bool(codes))
    newest_first = [pk for _at, pk in sorted(set(found), reverse=True)[:limit]]
    entries = AuditEntry.objects.select_related("by", "support_session").in_bulk(newest_first)
    return [entries[pk] for pk in newest_first if pk in entries]


def _kinds_for(audit_filter: AuditFilter) -> QuerySet[AuditKind]:
    """Return the kinds of entries that match the filter: kinds of requests, or kinds of the matching outcomes."""
    # If something is created, only the outcome has its target.
    condition = Q(result="") | Q(names_target=True) if audit_filter.target else Q(result="")
    kinds = AuditKind.objects.filter(Q(result=audit_filter.result) if audit_filter.result else condition)
    if audit_filter.about:
        names = sentences.subjects()[audit_filter.about].actions
        kinds = kinds.filter(
            Q(action__in=names) | Q(*[("action__startswith", f"{n}.") for n in names], _connector=Q.OR)
        )
    if audit_filter.person:
        kinds = kinds.filter(_by_person(audit_filter.person))
    return kinds.filter(in_support=True) if audit_filter.support_only else kinds


def _by_target_kind(target: str) -> Q:
    """Return a condition for kinds of targets that match a text: the start of their code, or their word.

    Several kinds may share one word.
    """
    named = [kind for kind, word in sentences.TARGETS.items() if target.lower() == str(word).lower()]
    return Q(target_kind__startswith=target) & ~Q(target_kind="") | Q(target_kind__in=named)


def _by_target_code(target: str) -> Q:
    """Return a condition for single targets: the start of the code, or the form shown on pages ("Member M1")."""
    found = _starts_with(target) if ":" in target else Q()
    for kind, word in sentences.TARGETS.items():
        code = target[len(str(word)) :].strip() if target.lower().startswith(str(word).lower()) else ""
        if code:
            found |= _starts_with(f"{kind}:{code}")
    return found


def _by_registered_searches(target: str) -> Q:
    """Return a condition for actions on many targets, and for names."""
    name = re.search("[“「](.+)[”」]", target)
    found = Q(target__in=targets.find_by_name(name[1] if name else target))
    for search in _searches:
        found |= search(target)
    return found


def _starts_with(code: str) -> Q:
    """Return a condition for targets that start with a code. Row security allows no index for LIKE, so it compares."""
    return Q(target__gte=code, target__lt=code + _LAST_CHARACTER)


def _by_person(person: str) -> Q:
    """Return a condition for entries by this person: by address, by the name at the time, or as pages show it."""
    read = [label for label, text in sentences.ACTORS.items() if person.lower() in str(text).lower()]
    return Q(by__email__icontains=person) | Q(by_label__icontains=person) | Q(by=None, by_label__in=read)


def _complete(entries: list[AuditEntry]) -> list[AuditEntry]:
    """Add results of requests and names from other rows to the entries."""
    fill_results(entries)
    fill_names(entries)
    return entries


def fill_results(entries: Sequence[AuditEntry]) -> None:
    """Set on each request's entry how it ended, and its target if only the outcome has it."""
    requests = {entry.intent_id: entry for entry in entries if entry.intent_id and "." not in entry.action}
    if not requests:
        return
    outcomes = AuditEntry.objects.filter(_IS_OUTCOME, intent_id__in=list(requests)).order_by("at", "pk")
    for intent_id, action, target in outcomes.values_list("intent_id", "action", "target"):
        entry = requests[intent_id]
        entry.ended = action.rpartition(".")[2]
        entry.target = entry.target or target


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _write_cursor(entry: AuditEntry) -> str:
    return _signer.sign(f"{entry.at.isoformat()}/{entry.pk}")


def _read_cursor(cursor: str) -> ActPosition | None:
    try:
        at, _, pk = _signer.unsign(cursor).partition("/")
    except BadSignature:
        return None
    return datetime.fromisoformat(at), int(pk)
