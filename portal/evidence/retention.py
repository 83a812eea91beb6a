"""Deletion of incidents, by staff or automatically after their time. The audit log keeps proof; holds prevent it."""

import contextlib
from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import TaskWakeup
from portal.base.ui.times import local
from portal.domain.intents.recording import Requester
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues
from portal.evidence import rules, store
from portal.evidence.actions import DEFAULT_DAYS
from portal.evidence.models import EvidenceSettings, Incident, LegalHold, StoredFile
from tenants import audit
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.wording import coded_sentence


def delete(*, incident: Incident, by: Requester) -> None:
    """Delete a closed incident before its time. Raises NotDone if it is open or on hold."""
    with transaction.atomic():
        _delete_incident(rules.lock_incident(incident.pk, "delete"), by=by.audit_author)


def delete_expired(incident_id: int) -> None:
    """Delete an incident of the tenant in scope after its retention time."""
    with contextlib.suppress(rules.NotDone), transaction.atomic():
        row = rules.lock_incident(incident_id, "delete")
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
INCIDENTS_DUE = TaskWakeup(
    rows=_due_incidents,
    task="portal.evidence.tasks.delete",
    claim_values=lambda: {"due_at": ClockTime() + timedelta(hours=1)},
)
