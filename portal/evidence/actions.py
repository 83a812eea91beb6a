"""Changes that staff make to incidents, what an incident's state refuses, and deletion after the retention time.

They stay in the portal; only fetching sends requests to the service. On legal hold, an incident can only grow: items
and holds can be added, and missing video is saved. Nothing can be removed, changed, closed or deleted. The database
refuses it too (migration 0002), for code that does not use this module. The audit log keeps proof of deleted incidents.
"""

import contextlib
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any, Literal, get_args
from uuid import uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import Process, retry_after
from portal.base.ui.times import TOKYO, local
from portal.domain.intents.recording import Requester
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues
from portal.evidence.models import EvidenceSettings, Export, Incident, Item, LegalHold
from tenants import audit
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.sentences import coded_sentence

IncidentAction = Literal["edit", "add", "fetch", "remove", "close", "reopen", "hold", "end_hold", "export", "delete"]

# The states that refuse an action; the first one that applies is the reason shown.
_REFUSED_BY: dict[IncidentAction, tuple[str, ...]] = {
    "edit": ("held", "closed"),
    "add": ("closed",),
    "fetch": ("settled",),
    "remove": ("held", "closed"),
    "close": ("held", "closed"),
    "reopen": ("reopened",),
    "hold": (),
    "end_hold": (),
    "export": (),
    "delete": ("held", "open"),
}
# The most items of one incident, and the most to add at once.
MOST_ITEMS, MOST_AT_ONCE = 2_000, 500
DEFAULT_DAYS = 1_095
# Repeated views of the same video or picture within this time are recorded once.
_VIEWING = timedelta(minutes=15)


class NotDone(ValueError):
    """The error for a refused action; nothing was changed. The text is a key of `REFUSAL_TEXTS` in the views."""


def refusing_state(incident: Incident, action: IncidentAction) -> str:
    """Return the state of an incident that refuses an action, "" if none does."""
    states = {
        "held": incident.is_held,
        "closed": not incident.is_open,
        "settled": not incident.is_collecting,
        "open": incident.is_open,
        "reopened": incident.is_open,
    }
    return next((each for each in _REFUSED_BY[action] if states[each]), "")


def allowed_actions(incident: Incident) -> set[IncidentAction]:
    """Return the actions that an incident's state allows."""
    return {action for action in get_args(IncidentAction) if not refusing_state(incident, action)}


def lock_incident(incident_id: int, action: IncidentAction) -> Incident:
    """Lock an incident for this action until the transaction ends, and return its current row.

    Raises NotDone if its state refuses the action or it was deleted.
    """
    row = Incident.objects.select_for_update(no_key=action != "delete").filter(pk=incident_id).first()
    if row is None:
        raise NotDone("deleted")
    if why := refusing_state(row, action):
        raise NotDone(why)
    return row


def open_incident(*, title: str, began_at: datetime, ended_at: datetime | None, by: Requester) -> Incident:
    """Create an incident with the tenant's next number."""
    with transaction.atomic():
        EvidenceSettings.objects.get_or_create(tenant=by.tenant, defaults={"days": DEFAULT_DAYS})
        settings = EvidenceSettings.objects.select_for_update().get()
        settings.last_number += 1
        settings.save(update_fields=["last_number"])
        values: dict[str, Any] = {"title": title, "began_at": began_at, "ended_at": ended_at}
        incident = Incident.objects.create(number=settings.last_number, opened_by=by.user, **values)
        _audit(incident, by, "incident.opened", after=_audited_incident(incident))
    return incident


def edit(*, incident: Incident, title: str, began_at: datetime, ended_at: datetime | None, by: Requester) -> None:
    """Change the title and times of an open incident. Raises NotDone if it is closed or on legal hold."""
    with transaction.atomic():
        row = lock_incident(incident.pk, "edit")
        before = _audited_incident(row)
        row.title, row.began_at, row.ended_at = title, began_at, ended_at
        row.save(update_fields=["title", "began_at", "ended_at"])
        _audit(row, by, "incident.edited", before=before, after=_audited_incident(row))


def add_items(*, incident: Incident, items: Iterable[Item], by: Requester, fetch: bool = True) -> list[Item]:
    """Add items that the incident does not have yet and request their video and pictures. Return the added items.

    Raises NotDone if the incident is closed or would have too many items.
    """
    items = list(items)
    with transaction.atomic():
        lock_incident(incident.pk, "add")
        known = set(incident.items.values_list("kind", "reference"))
        fresh = list({(item.kind, item.reference): item for item in items}.items())
        added = [item for key, item in fresh if key not in known]
        if len(known) + len(added) > MOST_ITEMS:
            raise NotDone("too_many")
        for item in added:
            item.incident, item.added_by = incident, by.user
        Item.objects.bulk_create(added)
        if added:
            _audit(incident, by, "evidence.added", count=len(added), after=_audited_items(added))
        if fetch:
            _request(Item.objects.filter(pk__in=[item.pk for item in added], media=Item.Media.THERE))
    return added


def add_note(*, incident: Incident, text: str, by: Requester) -> Item:
    """Add a note by staff. Notes are never changed."""
    now = database_now()
    item = Item(kind=Item.Kind.NOTE, reference=uuid4().hex, at=now, facts={"text": text, "by": str(by.user)})
    return add_items(incident=incident, items=[item], by=by)[0]


def request_fetch(*, incident: Incident, items: QuerySet[Item], by: Requester) -> int:
    """Request video and pictures that are not in the store yet. Return their number."""
    missing = items.filter(incident=incident, media__in=Item.NOT_SAVED)
    with transaction.atomic():
        lock_incident(incident.pk, "fetch")
        found = list(missing.values_list("pk", flat=True))
        if found:
            _request(Item.objects.filter(pk__in=found))
            _audit(incident, by, "evidence.fetch", count=len(found))
    return len(found)


def remove_item(*, incident: Incident, item: Item, by: Requester) -> None:
    """Remove an item from an open incident. The audit log keeps its reference and the digest of its file.

    Raises NotDone if the incident is closed or on legal hold.
    """
    with transaction.atomic():
        lock_incident(incident.pk, "remove")
        deleted, _rows = incident.items.filter(pk=item.pk).delete()
        if not deleted:
            return
        _audit(incident, by, "evidence.removed", before=_audited_items([item]))
        if item.file_id is not None:
            store.schedule_deletion(StoredFile.objects.filter(pk=item.file_id))


def close(*, incident: Incident, keep_until: date, by: Requester) -> None:
    """Close an incident. Nothing can be added to it, and it is deleted after `keep_until`.

    Raises NotDone if it is closed, or on legal hold, because missing video would be lost.
    """
    with transaction.atomic():
        row = lock_incident(incident.pk, "close")
        row.closed_by, row.closed_at, row.keep_until = by.user, database_now(), keep_until
        row.due_at = datetime.combine(keep_until + timedelta(days=1), time(), TOKYO)
        row.save(update_fields=["closed_by", "closed_at", "keep_until", "due_at"])
        _audit(row, by, "incident.closed", after={"keep_until": keep_until.isoformat()})


def reopen(*, incident: Incident, by: Requester) -> None:
    """Reopen a closed incident. This is also possible on legal hold, because it only keeps more."""
    with transaction.atomic():
        row = lock_incident(incident.pk, "reopen")
        row.closed_by, row.closed_at, row.keep_until, row.due_at = None, None, None, None
        row.save(update_fields=["closed_by", "closed_at", "keep_until", "due_at"])
        _audit(row, by, "incident.reopened")


def add_hold(*, incident: Incident, reason: str, by: Requester) -> LegalHold:
    """Add a legal hold to an incident. Until all its holds have ended, nothing can be removed from it."""
    with transaction.atomic():
        lock_incident(incident.pk, "hold")
        hold = LegalHold.objects.create(incident=incident, reason=reason, by=by.user)
        _audit(incident, by, "incident.held", after={"hold": hold.pk, "reason": reason})
    return hold


def end_hold(*, incident: Incident, hold: LegalHold, by: Requester) -> None:
    """End one hold of an incident; the others stay. Raises NotDone if it has ended already."""
    with transaction.atomic():
        lock_incident(incident.pk, "end_hold")
        active = incident.holds.filter(pk=hold.pk, ended_at=None)
        if not active.update(ended_by=by.user, ended_at=ClockTime()):
            raise NotDone("ended")
        before = {"hold": hold.pk, "reason": hold.reason, "by": str(hold.by)}
        _audit(incident, by, "incident.hold_ended", before=before)


def request_export(*, incident: Incident, by: Requester) -> Export:
    """Request a signed export of an incident. Return the person's export that is being created, if there is one."""
    with transaction.atomic():
        lock_incident(incident.pk, "export")
        if running := incident.exports.filter(due_at__isnull=False, requested_by=by.user).first():
            return running
        export = Export.objects.create(
            incident=incident,
            requested_by=by.user,
            language=get_language() or "en",
            items=incident.items.count(),
            due_at=database_now(),
        )
        _audit(incident, by, "evidence.export")
    return export


def record_download(*, export: Export, by: Requester) -> None:
    """Record that a person downloaded an export."""
    with transaction.atomic():
        _audit(export.incident, by, "evidence.downloaded", after={"sha256": export.file.sha256 if export.file else ""})


def record_view(*, item: Item, by: Requester) -> None:
    """Record that a person views a video or picture. Recorded once per viewing, because players load it in parts."""
    number = item.incident.number
    audit.record_once(
        within=_VIEWING,
        **by.audit_author,
        action="evidence.viewed",
        target=f"incident:{number}",
        summary=coded_sentence("evidence.viewed", number=number, item=item.pk),
        after=_audited_items([item]),
    )


def _request(items: QuerySet[Item]) -> None:
    """Mark these items for a worker to fetch."""
    items.update(media=Item.Media.WANTED, due_at=ClockTime(), trouble="")


def _audited_items(items: Iterable[Item]) -> dict[str, Any]:
    """Return the items' references for the audit log, without any personal data."""
    references = [
        {"kind": item.kind, "reference": item.reference, "at": local(item.at).isoformat(timespec="seconds")}
        | ({"sha256": item.file.sha256} if item.file else {})
        for item in items
    ]
    return {"items": references[:100], "count": len(references)}


def _audited_incident(incident: Incident) -> dict[str, Any]:
    """Return the incident's times for the audit log. The title is left out because the log is never deleted."""
    ended = local(incident.ended_at).isoformat() if incident.ended_at else None
    return {"began_at": local(incident.began_at).isoformat(), "ended_at": ended}


def _audit(incident: Incident, by: Requester, action: str, *, count: int = 0, **changes: Any) -> None:
    target, number = f"incident:{incident.number}", incident.number
    audit.record(
        **by.audit_author,
        action=action,
        target=target,
        summary=coded_sentence(action, number=number, count=count),
        **changes,
    )


def delete(*, incident: Incident, by: Requester) -> None:
    """Delete a closed incident before its time. Raises NotDone if it is open or on hold."""
    with transaction.atomic():
        _delete_incident(lock_incident(incident.pk, "delete"), by=by.audit_author)


def delete_expired(incident_id: int) -> None:
    """Delete an incident of the tenant in scope after its retention time."""
    with contextlib.suppress(NotDone), transaction.atomic():
        row = lock_incident(incident_id, "delete")
        if row.keep_until is not None and row.keep_until < _today():
            tenant = Tenant.objects.get(pk=row.tenant_id)
            _delete_incident(row, by={"tenant": tenant, "by": None, "by_label": "retention"})


def _delete_incident(incident: Incident, *, by: Any) -> None:
    """Delete an incident with its files. The audit log keeps the numbers and the digest of each file."""
    of_items = Q(pk__in=incident.items.exclude(file=None).values("file"))
    of_exports = Q(pk__in=incident.exports.exclude(file=None).values("file"))
    files = list(StoredFile.objects.filter(of_items | of_exports).order_by("pk").only("pk", "tenant_id", "sha256"))
    proof = {
        "items": incident.items.count(),
        "files": [each.sha256 for each in files],
        "keep_until": incident.keep_until.isoformat() if incident.keep_until else None,
    }
    audit.record(
        **by,
        action="incident.deleted",
        target=f"incident:{incident.number}",
        summary=coded_sentence("incident.deleted", number=incident.number),
        before=proof,
    )
    incident.delete()
    store.schedule_deletion(StoredFile.objects.filter(pk__in=[each.pk for each in files]))


def retention_days() -> int:
    """Return for how many days the tenant in scope keeps closed incidents."""
    row = EvidenceSettings.objects.first()
    return row.days if row is not None else DEFAULT_DAYS


def retention_end() -> date:
    """Return the day until which an incident that is closed today is kept."""
    return _today() + timedelta(days=retention_days())


def change_retention(*, days: int, by: Requester) -> ChangeResult:
    """Change for how many days incidents are kept. Those closed already keep their day. Raises NotChanged."""
    return changing.change(RETENTION_RULE, {"days": days}, by=by)


def _save_retention(_subject: str, after: SettingValues, by: Requester) -> None:
    before, days = retention_days(), after["days"]
    EvidenceSettings.objects.update_or_create(tenant=by.tenant, defaults={"days": days})
    audit.record(
        **by.audit_author,
        action="evidence.retention",
        target="evidence:retention",
        summary=coded_sentence("evidence.retention", days=days),
        before={"days": before},
        after={"days": days},
    )


# Fewer days delete evidence sooner.
RETENTION_RULE = SafetyRule(
    name="evidence_retention",
    permission=Permission.EVIDENCE_MAKE,
    title=lambda _subject: coded_sentence("safety_rule.evidence_retention"),
    read=lambda _subject: {"days": retention_days()},
    is_looser=lambda _subject, before, after: after["days"] < before["days"],
    save=_save_retention,
    describe=lambda _subject, values: {_("Keep closed incidents for (days)"): str(values["days"])},
    page_route=lambda _subject: ("evidence:settings",),
)


def _today() -> date:
    return local(database_now()).date()


def _due_incidents() -> QuerySet[Incident]:
    held = LegalHold.objects_across_tenants.filter(incident=OuterRef("pk"), ended_at=None)
    return Incident.objects_across_tenants.filter(~Exists(held), due_at__lte=ClockTime())


# If a worker did not finish, the incident is due again an hour later.
EXPIRED_INCIDENTS = Process(
    name="incidents_over",
    rows=_due_incidents,
    step=delete_expired,
    queue="bulk",
    every=600.0,
    claim_values=retry_after(3600),
)
