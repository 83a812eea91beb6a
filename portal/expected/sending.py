"""Asking for the code of one row. A code of the same name under way is waited for; one that came meanwhile is kept."""

from portal.core.budget.priorities import Priority
from portal.core.intents.models import Intent
from portal.core.intents.nonces import Nonce
from portal.core.intents.record import Asker
from portal.core.jobs.kinds import Skip, Wait
from portal.core.jobs.models import Job, Row
from portal.core.visits.models import Visit
from portal.expected.queries import number
from portal.expected.reading import restored
from portal.guests.clashes import Clash
from portal.guests.issuing import issue


def ask(job: Job, row: Row) -> Intent | Skip | Wait:
    """Record what asks for the code of a row: list, line and attempt name it, so that it is asked for once."""
    try:
        [visit] = issue(
            orders=[restored(row.content["order"])],
            by=Asker(job.tenant, job.by, job.support_session),
            nonce=Nonce(f"expected:{number(job)}:{row.line}:{row.attempts}"),
            confirmed=_confirmed(job, row),
            priority=Priority.JOBS,
            inline=False,
        )
    except Clash as clash:
        return Wait("waits", field="name") if clash.pending else Skip("appeared", field="name")
    if visit.intent is None:  # a visit that was issued is there together with its intent
        raise ValueError("the visit was not asked for")
    return visit.intent


def _confirmed(job: Job, row: Row) -> list[str]:
    """The doubles that somebody saw and wanted: those of the dry run, and rows of this very list."""
    if not job.options.get("doubles"):
        return []
    asked = Row.objects.filter(job=job, intent__isnull=False)
    own = Visit.objects.filter(intent__in=asked.values("intent")).values_list("pk", flat=True)
    return [str(pk) for pk in (*row.content["marks"], *own)]
