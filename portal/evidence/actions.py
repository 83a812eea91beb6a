"""What staff do with incidents. It is the portal's own: the service hears nothing of it, but for what is fetched."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import get_language

from portal.core.intents.recording import Requester
from portal.core.timers.clock import ClockTime, database_now
from portal.core.ui.times import TOKYO, local
from portal.evidence import rules, store
from portal.evidence.models import EvidenceSettings, Export, Incident, Item, LegalHold, StoredFile
from portal.evidence.rules import NotDone
from tenants import audit
from tenants.wording import coded_sentence

# Of one incident, and what may be added at once.
MOST_ITEMS, MOST_AT_ONCE = 2_000, 500
DEFAULT_DAYS = 1_095
# Who looks at the same video or picture within this is written down once.
_VIEWING = timedelta(minutes=15)


def open_incident(*, title: str, began_at: datetime, ended_at: datetime | None, by: Requester) -> Incident:
    """Open an incident under the tenant's next number."""
    with transaction.atomic():
        EvidenceSettings.objects.get_or_create(tenant=by.tenant, defaults={"days": DEFAULT_DAYS})
        kept = EvidenceSettings.objects.select_for_update().get()
        kept.last_number += 1
        kept.save(update_fields=["last_number"])
        told: dict[str, Any] = {"title": title, "began_at": began_at, "ended_at": ended_at}
        incident = Incident.objects.create(number=kept.last_number, opened_by=by.user, **told)
        _audit(incident, by, "incident.opened", after=_audited_incident(incident))
    return incident


def edit(*, incident: Incident, title: str, began_at: datetime, ended_at: datetime | None, by: Requester) -> None:
    """Change what an open incident is called, and when it was. Raises NotDone for a closed one and on legal hold."""
    with transaction.atomic():
        row = rules.lock(incident.pk, "edit")
        before = _audited_incident(row)
        row.title, row.began_at, row.ended_at = title, began_at, ended_at
        row.save(update_fields=["title", "began_at", "ended_at"])
        _audit(row, by, "incident.edited", before=before, after=_audited_incident(row))


def add_items(*, incident: Incident, items: Iterable[Item], by: Requester, fetch: bool = True) -> list[Item]:
    """Add what is not in the incident yet, and have its video and pictures fetched. Returns what was added.

    Raises NotDone for a closed incident, and where it would have too many items.
    """
    items = list(items)
    with transaction.atomic():
        rules.lock(incident.pk, "add")
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
    """Add a note of a member of staff; notes are never changed."""
    now = database_now()
    item = Item(kind=Item.Kind.NOTE, reference=uuid4().hex, at=now, facts={"text": text, "by": str(by.user)})
    return add_items(incident=incident, items=[item], by=by)[0]


def request_fetch(*, incident: Incident, items: QuerySet[Item], by: Requester) -> int:
    """Have video and pictures fetched that are not in the store yet. Returns how many."""
    missing = items.filter(incident=incident, media__in=Item.NOT_SAVED)
    with transaction.atomic():
        rules.lock(incident.pk, "fetch")
        found = list(missing.values_list("pk", flat=True))
        if found:
            _request(Item.objects.filter(pk__in=found))
            _audit(incident, by, "evidence.fetch", count=len(found))
    return len(found)


def remove_item(*, incident: Incident, item: Item, by: Requester) -> None:
    """Take something out of an open incident; the audit trail keeps what it was, and the digest of its file.

    Raises NotDone for a closed one and on legal hold.
    """
    with transaction.atomic():
        rules.lock(incident.pk, "remove")
        deleted, _rows = incident.items.filter(pk=item.pk).delete()
        if not deleted:
            return
        _audit(incident, by, "evidence.removed", before=_audited_items([item]))
        if item.file_id is not None:
            store.schedule_deletion(StoredFile.objects.filter(pk=item.file_id))


def close(*, incident: Incident, keep_until: date, by: Requester) -> None:
    """Close an incident; nothing is added any more, and it is deleted after that day.

    Raises NotDone where it is closed, and on legal hold: what is still missing would be lost.
    """
    with transaction.atomic():
        row = rules.lock(incident.pk, "close")
        row.closed_by, row.closed_at, row.keep_until = by.user, database_now(), keep_until
        row.due_at = datetime.combine(keep_until + timedelta(days=1), time(), TOKYO)
        row.save(update_fields=["closed_by", "closed_at", "keep_until", "due_at"])
        _audit(row, by, "incident.closed", after={"keep_until": keep_until.isoformat()})


def reopen(*, incident: Incident, by: Requester) -> None:
    """Open a closed incident again, also on legal hold: more is kept by it, never less."""
    with transaction.atomic():
        row = rules.lock(incident.pk, "reopen")
        row.closed_by, row.closed_at, row.keep_until, row.due_at = None, None, None, None
        row.save(update_fields=["closed_by", "closed_at", "keep_until", "due_at"])
        _audit(row, by, "incident.reopened")


def add_hold(*, incident: Incident, reason: str, by: Requester) -> LegalHold:
    """Put an incident on legal hold, beside the holds that it has: until all of them have ended it only grows."""
    with transaction.atomic():
        rules.lock(incident.pk, "hold")
        held = LegalHold.objects.create(incident=incident, reason=reason, by=by.user)
        _audit(incident, by, "incident.held", after={"hold": held.pk, "reason": reason})
    return held


def end_hold(*, incident: Incident, hold: LegalHold, by: Requester) -> None:
    """End one hold of an incident; the others stay. Raises NotDone where it has ended already."""
    with transaction.atomic():
        rules.lock(incident.pk, "end_hold")
        active = incident.holds.filter(pk=hold.pk, ended_at=None)
        if not active.update(ended_by=by.user, ended_at=ClockTime()):
            raise NotDone("ended")
        before = {"hold": hold.pk, "reason": hold.reason, "by": str(hold.by)}
        _audit(incident, by, "incident.hold_ended", before=before)


def request_export(*, incident: Incident, by: Requester) -> Export:
    """Have a worker write a signed file of an incident; return the one that is being made already, if there is one."""
    with transaction.atomic():
        rules.lock(incident.pk, "export")
        if running := incident.exports.filter(due_at__isnull=False, asked_by=by.user).first():
            return running
        export = Export.objects.create(
            incident=incident,
            asked_by=by.user,
            language=get_language() or "en",
            items=incident.items.count(),
            due_at=database_now(),
        )
        _audit(incident, by, "evidence.export")
    return export


def record_download(*, export: Export, by: Requester) -> None:
    """Note that somebody took an export out of the portal."""
    with transaction.atomic():
        _audit(export.incident, by, "evidence.downloaded", after={"sha256": export.file.sha256 if export.file else ""})


def record_view(*, item: Item, by: Requester) -> None:
    """Note that somebody looks at video or a picture: once for each viewing, of which a player asks part by part."""
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
    """Have a worker fetch these."""
    items.update(media=Item.Media.WANTED, due_at=ClockTime(), trouble="")


def _audited_items(items: Iterable[Item]) -> dict[str, Any]:
    """Return what the audit trail keeps of items: what they are, never what they say of anybody."""
    told = [
        {"kind": item.kind, "reference": item.reference, "at": local(item.at).isoformat(timespec="seconds")}
        | ({"sha256": item.file.sha256} if item.file else {})
        for item in items
    ]
    return {"items": told[:100], "count": len(told)}


def _audited_incident(incident: Incident) -> dict[str, Any]:
    """Return what the audit trail keeps of an incident: not its title, for nothing is ever taken out of there."""
    ended = local(incident.ended_at).isoformat() if incident.ended_at else None
    return {"began_at": local(incident.began_at).isoformat(), "ended_at": ended}


def _audit(incident: Incident, by: Requester, action: str, *, count: int = 0, **told: Any) -> None:
    target, number = f"incident:{incident.number}", incident.number
    audit.record(
        **by.audit_author,
        action=action,
        target=target,
        summary=coded_sentence(action, number=number, count=count),
        **told,
    )
