"""The end of access that was given until a moment: a job of its own, which waits and undoes what the first has done.

It is made when the first one starts, whoever starts it (a retry brings one for its own rows), so that nothing is ever
given without its end. What it does is worked out when it runs: who got nothing from the first job is not touched, and
whoever has something else by then keeps that.
"""

from datetime import datetime

from portal.areas.merging import Act
from portal.core.intents.record import Asker
from portal.core.jobs import acts
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action, JobState
from tenants.roles import Permission


def schedule(job: Job, by: Asker) -> None:
    """Have the end of a started job wait for its moment, in the transaction that starts it and as part of that act."""
    if job.undo_of_id is not None or not job.options.get("until"):
        return
    members = Row.objects.filter(job=job, action=Action.UPDATE).exclude(member_id="").order_by("line")
    kept = {name: job.options[name] for name in ("area_id", "area_name", "trust", "until")}
    end = acts.prepare(
        kind=job.kind,
        by=by,
        rows=((member_id, {}, {}) for member_id in members.values_list("member_id", flat=True)),
        permission=Permission(job.permission),
        options={**kept, "act": str(Act.UNDO), "ends": True},
        starts_at=datetime.fromisoformat(job.options["until"]),
        undo_of=job,
        quiet=True,
    )
    acts.start(by=by, job=end, quiet=True)


def of(job: Job) -> Job | None:
    """The job that ends what this one gives, while it waits or runs."""
    alive = Job.objects.filter(undo_of=job, options__ends=True, state__in=[JobState.WAITING, JobState.RUNNING])
    return alive.select_related("tenant").order_by("-pk").first()
