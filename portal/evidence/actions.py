"""What staff do with incidents. It is the portal's own: the service hears nothing of it, but for what is fetched."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import get_language

from portal.core.intents.record import Asker
from portal.core.timers.clock import ClockTime, database_now
from portal.core.ui.times import TOKYO, local
from portal.evidence import store
from portal.evidence.models import EvidenceSettings, Export, Incident, Item, StoredFile
from tenants import audit
from tenants.wording import say

# Of one incident, and what may be added at once.
MOST_ITEMS, MOST_AT_ONCE = 2_000, 500
DAYS_KEPT = 1_095


class NotDone(ValueError):
    """Nothing was changed; the text is one of TROUBLES of the views."""


def open_incident(*, title: str, began_at: datetime, ended_at: datetime | None, by: Asker) -> Incident:
    """Open an incident under the tenant's next number."""
    with transaction.atomic():
        EvidenceSettings.objects.get_or_create(tenant=by.tenant, defaults={"days": DAYS_KEPT})
        kept = EvidenceSettings.objects.select_for_update().get()
        kept.last_number += 1
        kept.save(update_fields=["last_number"])
        told: dict[str, Any] = {"title": title, "began_at": began_at, "ended_at": ended_at}
        incident = Incident.objects.create(number=kept.last_number, opened_by=by.user, **told)
        _write_down(incident, by, "incident.opened", after=_told(incident))
    return incident


def edit(*, incident: Incident, title: str, began_at: datetime, ended_at: datetime | None, by: Asker) -> None:
    """Change what an incident is called, and when it was."""
    before = _told(incident)
    incident.title, incident.began_at, incident.ended_at = title, began_at, ended_at
    with transaction.atomic():
        incident.save(update_fields=["title", "began_at", "ended_at"])
        _write_down(incident, by, "incident.edited", before=before, after=_told(incident))


def add(*, incident: Incident, items: Iterable[Item], by: Asker, fetch: bool = True) -> list[Item]:
    """Add what is not in the incident yet, and have its video and pictures fetched. Returns what was added.

    Raises NotDone for a closed incident, and where it would have too many items.
    """
    items = list(items)
    with transaction.atomic():
        _held(incident)
        known = set(incident.items.values_list("kind", "reference"))
        fresh = list({(item.kind, item.reference): item for item in items}.items())
        added = [item for key, item in fresh if key not in known]
        if len(known) + len(added) > MOST_ITEMS:
            raise NotDone("too_many")
        for item in added:
            item.incident, item.added_by = incident, by.user
        Item.objects.bulk_create(added)
        if added:
            _write_down(incident, by, "evidence.added", count=len(added), after=_listed(added))
        if fetch:
            _want(Item.objects.filter(pk__in=[item.pk for item in added], media=Item.Media.THERE))
    return added


def note(*, incident: Incident, text: str, by: Asker) -> Item:
    """Add a note of a member of staff; notes are never changed."""
    now = database_now()
    item = Item(kind=Item.Kind.NOTE, reference=uuid4().hex, at=now, facts={"text": text, "by": str(by.user)})
    return add(incident=incident, items=[item], by=by)[0]


def fetch_now(*, incident: Incident, items: QuerySet[Item], by: Asker) -> int:
    """Have video and pictures fetched that are not in the store yet. Returns how many."""
    missing = items.filter(incident=incident, media__in=Item.NOT_SAVED)
    with transaction.atomic():
        _held(incident)
        found = list(missing.values_list("pk", flat=True))
        if found:
            _want(Item.objects.filter(pk__in=found))
            _write_down(incident, by, "evidence.fetch", count=len(found))
    return len(found)


def remove(*, incident: Incident, item: Item, by: Asker) -> None:
    """Take something out of an incident; the audit trail keeps what it was, and the digest of its file."""
    with transaction.atomic():
        _held(incident)
        _write_down(incident, by, "evidence.removed", before=_listed([item]))
        Item.objects.filter(pk=item.pk).delete()
        if item.file_id is not None:
            store.delete_soon(StoredFile.objects.filter(pk=item.file_id))


def close(*, incident: Incident, keep_until: date, by: Asker) -> None:
    """Close an incident; nothing is added any more, and it is deleted after that day."""
    with transaction.atomic():
        _held(incident)
        incident.closed_by, incident.closed_at, incident.keep_until = by.user, database_now(), keep_until
        incident.due_at = datetime.combine(keep_until + timedelta(days=1), time(), TOKYO)
        incident.save(update_fields=["closed_by", "closed_at", "keep_until", "due_at"])
        _write_down(incident, by, "incident.closed", after={"keep_until": keep_until.isoformat()})


def reopen(*, incident: Incident, by: Asker) -> None:
    with transaction.atomic():
        incident.closed_by, incident.closed_at, incident.keep_until, incident.due_at = None, None, None, None
        incident.save(update_fields=["closed_by", "closed_at", "keep_until", "due_at"])
        _write_down(incident, by, "incident.reopened")


def hold(*, incident: Incident, reason: str, by: Asker) -> None:
    """Put an incident on legal hold: nobody and no rule deletes it until that ends."""
    incident.held_by, incident.held_at, incident.hold_reason = by.user, database_now(), reason
    with transaction.atomic():
        incident.save(update_fields=["held_by", "held_at", "hold_reason"])
        _write_down(incident, by, "incident.held", after={"reason": reason})


def end_hold(*, incident: Incident, by: Asker) -> None:
    reason = incident.hold_reason
    incident.held_by, incident.held_at, incident.hold_reason = None, None, ""
    with transaction.atomic():
        incident.save(update_fields=["held_by", "held_at", "hold_reason"])
        _write_down(incident, by, "incident.hold_ended", before={"reason": reason})


def ask_for_export(*, incident: Incident, by: Asker) -> Export:
    """Have a worker write a signed file of an incident; return the one that is being made already, if there is one."""
    with transaction.atomic():
        Incident.objects.select_for_update(no_key=True).get(pk=incident.pk)
        if running := incident.exports.filter(due_at__isnull=False, asked_by=by.user).first():
            return running
        export = Export.objects.create(
            incident=incident,
            asked_by=by.user,
            language=get_language() or "en",
            items=incident.items.count(),
            due_at=database_now(),
        )
        _write_down(incident, by, "evidence.export")
    return export


def downloaded(*, export: Export, by: Asker) -> None:
    """Note that somebody took an export out of the portal."""
    with transaction.atomic():
        _write_down(
            export.incident, by, "evidence.downloaded", after={"sha256": export.file.sha256 if export.file else ""}
        )


def shown(*, item: Item, by: Asker) -> None:
    """Note that somebody looked at video or a picture."""
    with transaction.atomic():
        _write_down(item.incident, by, "evidence.viewed", after=_listed([item]))


def _held(incident: Incident) -> None:
    """Lock an incident that is added to. Raises NotDone when it is closed."""
    if not Incident.objects.select_for_update(no_key=True).get(pk=incident.pk).is_open:
        raise NotDone("closed")


def _want(items: QuerySet[Item]) -> None:
    """Have a worker fetch these."""
    items.update(media=Item.Media.WANTED, due_at=ClockTime(), trouble="")


def _listed(items: Iterable[Item]) -> dict[str, Any]:
    """Return what the audit trail keeps of items: what they are, never what they say of anybody."""
    told = [
        {"kind": item.kind, "reference": item.reference, "at": local(item.at).isoformat(timespec="seconds")}
        | ({"sha256": item.file.sha256} if item.file else {})
        for item in items
    ]
    return {"items": told[:100], "count": len(told)}


def _told(incident: Incident) -> dict[str, Any]:
    """Return what the audit trail keeps of an incident: not its title, for nothing is ever taken out of there."""
    ended = local(incident.ended_at).isoformat() if incident.ended_at else None
    return {"began_at": local(incident.began_at).isoformat(), "ended_at": ended}


def _write_down(incident: Incident, by: Asker, action: str, *, count: int = 0, **told: Any) -> None:
    target, number = f"incident:{incident.number}", incident.number
    audit.record(**by.author, action=action, target=target, summary=say(action, number=number, count=count), **told)
