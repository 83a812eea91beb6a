"""Read the audit trail, newest first, a page at a time: one row per act.

A request to the service leaves one entry when it is made and another for its outcome; their `intent_id` ties them
together. Lists leave out the later ones, which are on the page of the first; its row says how the act ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.core.signing import BadSignature, Signer
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tenants import sentences
from tenants.models import AuditEntry
from tenants.trail import names

PAGE = 50
_signer = Signer(salt="tenants.trail.cursor")
# "create_member" is the request, "create_member.failed" its outcome. A person's decision is an act of its own.
_IS_OUTCOME = ~Q(intent_id="") & Q(action__contains=".") & ~Q(action__startswith="intent.")

# What acts are about, with their actions: operations of the service, and families of the portal's own acts.
ABOUT: dict[str, tuple[Promise, str]] = {
    "members": (
        _("Members"),
        (
            "member members create_member update_member delete_member temporary_use one_time_qr"
            " register_profile_image register_face_image delete_face_image"
        ),
    ),
    "groups": (_("Groups"), "group groups create_membergroup update_membergroup"),
    "rights": (_("Rights templates"), "rights_template"),
    "areas": (_("Areas"), "area areas"),
    "changes": (_("Bulk changes"), "change bulk_create_members bulk_update_members bulk_delete_members"),
    "imports": (_("Imports"), "import"),
    "guests": (_("Guests"), "guest guests create_guest update_guest preset desk expected"),
    "roll_calls": (_("Roll calls"), "roll_call"),
    "devices": (_("Doors"), "door operate_door operate_keys"),
    "lockdown": (_("Lockdowns"), "lockdown evacuation relock"),
    "plan": (_("Floor plans"), "plan"),
    "camera": (_("Cameras"), "camera"),
    "evidence": (_("Evidence"), "incident evidence"),
    "log": (_("Activity log"), "log"),
    "alerts": (_("Alerts"), "alert alert_rule alert_address"),
    "reports": (_("Reports"), "report report_schedule"),
    "reviews": (_("Access reviews"), "review"),
    "decisions": (_("Decisions on uncertain requests"), "intent"),
    "connection": (_("Connection"), "connection webhook update_webhook"),
    "safety": (_("Changes that need a second person"), "safety"),
    "staff": (_("Staff"), "staff"),
    "support": (_("Support sessions"), "support"),
    "tenant": (_("Tenant"), "tenant restore"),
}


# Returns the condition for entries that are about what a text names, by what others keep.
Search = Callable[[str], Q]
_searches: list[Search] = []


def search_by(search: Search) -> None:
    """Register a search for the targets of entries. Areas of work call it at start."""
    if search not in _searches:
        _searches.append(search)


@dataclass(frozen=True)
class Wanted:
    """The filter. `about` is one of ABOUT, `result` how the act ended ("succeeded", "failed", …)."""

    about: str = ""
    result: str = ""
    person: str = ""
    target: str = ""
    since: date | None = None
    until: date | None = None
    support_only: bool = False


@dataclass(frozen=True)
class Page:
    """Up to 50 acts, and the cursor of the next page, if there is one."""

    entries: list[AuditEntry]
    next: str


def page(wanted: Wanted, cursor: str = "") -> Page:
    """Return acts of the entered tenant older than the cursor. A cursor that is not ours starts from the newest."""
    rows = _acts(wanted)
    at, pk = _read(cursor)
    if at is not None:
        rows = rows.filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))
    entries = list(rows[: PAGE + 1])
    more = len(entries) > PAGE
    entries = _completed(entries[:PAGE])
    return Page(entries, _write(entries[-1]) if more else "")


def acts() -> QuerySet[AuditEntry]:
    """Return one entry for each act in the entered tenant: how a request ended is no act of its own."""
    return AuditEntry.objects.exclude(_IS_OUTCOME)


def newest(count: int) -> list[AuditEntry]:
    """Return the newest acts of the entered tenant."""
    return _completed(list(_acts(Wanted())[:count]))


def of_one_act(entry: AuditEntry) -> list[AuditEntry]:
    """Return the other entries of the same act, oldest first: the request, its outcome, a person's decision.

    All of them, the given one too, are completed as in lists.
    """
    same = AuditEntry.objects.filter(intent_id=entry.intent_id).exclude(pk=entry.pk).select_related("by")
    found = list(same.order_by("at", "pk")) if entry.intent_id else []
    _completed([entry, *found])
    return found


def _acts(wanted: Wanted) -> QuerySet[AuditEntry]:
    """Return the acts that fit the filter, without outcomes: those fit with their request."""
    rows = _wanted(wanted).exclude(_IS_OUTCOME)
    if wanted.result:
        outcomes = AuditEntry.objects.filter(_IS_OUTCOME, intent_id=OuterRef("intent_id")).order_by("-at", "-pk")
        asked = rows.exclude(intent_id="").exclude(action__contains=".")
        rows = asked.annotate(last=Subquery(outcomes.values("action")[:1])).filter(last__endswith=f".{wanted.result}")
    return rows.select_related("by", "support_session").order_by("-at", "-pk")


def _wanted(wanted: Wanted) -> QuerySet[AuditEntry]:
    rows = AuditEntry.objects.all()
    if wanted.about:
        names = ABOUT[wanted.about][1].split()
        rows = rows.filter(Q(action__in=names) | Q(*[("action__startswith", f"{n}.") for n in names], _connector=Q.OR))
    if wanted.person:
        rows = rows.filter(_by(wanted.person))
    if wanted.target:
        on = _on(wanted.target)
        # What is created gets its identifier only in the outcome.
        became = AuditEntry.objects.filter(_IS_OUTCOME, on).values("intent_id")
        rows = rows.filter(on | Q(target="", intent_id__in=became))
    if wanted.since:
        rows = rows.filter(at__gte=_midnight(wanted.since))
    if wanted.until:
        rows = rows.filter(at__lt=_midnight(wanted.until) + timedelta(days=1))
    if wanted.support_only:
        rows = rows.exclude(support_session=None)
    return rows


def _on(target: str) -> Q:
    """Return a condition for entries on a target: by the beginning of its code, or as pages write it ("Member M1").

    Several kinds may have one word, and a word alone means all of its kind. Acts on many at once are found by those
    who know whom they were about.
    """
    found = Q(target__startswith=target)
    for search in _searches:
        found |= search(target)
    for kind, word in sentences.TARGETS.items():
        if target.lower() == str(word).lower():
            found |= Q(target=kind) | Q(target__startswith=f"{kind}:")
        elif target.lower().startswith(f"{word} ".lower()):
            found |= Q(target__startswith=f"{kind}:{target[len(str(word)) + 1 :]}")
    return found


def _by(person: str) -> Q:
    """Return a condition for entries by this person: by address, by the name at the time, or as the reader sees it."""
    read = [label for label, text in sentences.ACTORS.items() if person.lower() in str(text).lower()]
    return Q(by__email__icontains=person) | Q(by_label__icontains=person) | Q(by=None, by_label__in=read)


def _completed(entries: list[AuditEntry]) -> list[AuditEntry]:
    """Complete the entries with what other rows say: how requests ended, and names."""
    _ended(entries)
    names.fill_in(entries)
    return entries


def _ended(entries: Sequence[AuditEntry]) -> None:
    asked = {entry.intent_id: entry for entry in entries if entry.intent_id and "." not in entry.action}
    if not asked:
        return
    outcomes = AuditEntry.objects.filter(_IS_OUTCOME, intent_id__in=list(asked)).order_by("at", "pk")
    for intent_id, action, target in outcomes.values_list("intent_id", "action", "target"):
        entry = asked[intent_id]
        entry.ended = action.rpartition(".")[2]
        entry.target = entry.target or target


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _write(entry: AuditEntry) -> str:
    return _signer.sign(f"{entry.at.isoformat()}/{entry.pk}")


def _read(cursor: str) -> tuple[datetime | None, int]:
    try:
        at, _, pk = _signer.unsign(cursor).partition("/")
    except BadSignature:
        return None, 0
    return datetime.fromisoformat(at), int(pk)
