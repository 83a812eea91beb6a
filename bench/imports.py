"""Imports: how fast the dry run is, and how many calls a whole import takes."""

import csv
import io
import json
import math
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from bench import people
from bench.figures import Figure
from bench.ground import Ground, child_environment, say
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.sync.models import MirrorState
from portal.imports import actions
from stack.paths import PYTHON, ROOT
from tenants.scope import tenant_scope
from tests.support.waiting import until

HEADINGS = ("member code", "name", "group", "card")
SUBMIT, RESULT = 13, 34


def dry_run(ground: Ground) -> list[Figure]:
    """Measure rows a second and peak memory of the dry run, against django-import-export with the same file."""
    rows, sizes = ground.sizes.rows, ground.sizes
    say(f"the dry run of {rows:,} rows")
    file = _file(rows, known=rows * 2 // 3, seed=ground.large.pk % 100)
    with tenant_scope(ground.large):
        job = actions.upload(by=Requester(ground.large, ground.user), upload=SimpleUploadedFile("staff.csv", file))
        Job.objects.filter(pk=job.pk).update(state=JobState.MAPPED, due_at=job.created_at)
    ours = _child(ground, "ours", str(ground.large.pk), str(job.pk))
    again = sizes.again("dryrun", rows=rows, members=sizes.members)
    memory = Figure("dry run, peak memory", f"{ours['megabytes']:.0f} MB", "", ours["megabytes"], ("<=", 300), again)
    rate = rows / ours["seconds"]
    if not find_spec("import_export"):
        reason = "django-import-export is not installed here"
        return [Figure("dry run, rows/s", f"{rate:,.0f}/s", "", None, (">=", 10), again, reason), memory]
    say(f"django-import-export's dry run of its first {sizes.beside_rows:,} rows")
    path = Path(ground.house.folder / "staff.csv")
    path.write_bytes(file)
    other = _child(ground, "beside", str(ground.large.pk), str(path), str(sizes.beside_rows))
    beside = sizes.beside_rows / other["seconds"]
    note = (
        f"django-import-export reads the first {sizes.beside_rows:,} rows of the file; its pace does not depend on them"
    )
    words = f"django-import-export {beside:,.0f}/s"
    return [Figure("dry run, rows/s", f"{rate:,.0f}/s", words, rate / beside, (">=", 10), again, note), memory]


def calls(ground: Ground) -> list[Figure]:
    """Count the calls of a whole import by the real workers against the sandbox, compared with the least possible."""
    rows = ground.sizes.import_rows
    say(f"an import of {rows:,} rows by the workers")
    with ground.house.stage() as stage:
        customer = stage.customer(members=5)
        with customer.scope():
            _synced(customer)
            groups = _groups(customer)
            asker = customer.asker()
            file = _lines((f"N{n:06}", f"新人 {n}", groups[n % len(groups)], "") for n in range(rows))
            job = actions.upload(by=asker, upload=SimpleUploadedFile("new.csv", file))
            actions.choose_columns(by=asker, job=job, chosen=job.sheet.columns, default_group="")
            until(lambda: _state(job) == JobState.CHECKED, 120, saying="the dry run ends")
            before = len(customer.calls())
            started = time.perf_counter()
            if not job_actions.start(by=asker, job=job):
                raise RuntimeError("the import did not start")
            until(lambda: _state(job) == JobState.DONE, 600, saying="the import ends")
            took = time.perf_counter() - started
            made = Row.objects.filter(job=job, state=RowState.SUCCEEDED).count()
        used = [int(call["operation"]) for call in customer.calls()[before:]]  # type: ignore[call-overload]
    if made != rows:
        raise RuntimeError(f"{made} of {rows} rows were applied")
    submits, polls = used.count(SUBMIT), used.count(RESULT)
    parts = math.ceil(rows / 1000)
    again = ground.sizes.again("import", import_rows=rows)
    others = len(used) - submits - polls
    note = f"{submits} submits, {polls} polls, {others} others in {took:.0f} s; the least is a submit and a poll a part"
    return [Figure(f"calls of an import of {rows:,} rows", str(len(used)), f"{2 * parts} at least",
                   len(used) / (2 * parts), ("<=", 1.2), again, note)]  # fmt: skip


def _synced(customer: Any) -> None:
    from portal.domain.sync import schedule

    schedule.schedule_all(customer.tenant)
    MirrorState.objects.filter(kind=MirrorKind.RIGHTS).update(due_at=None)
    until(lambda: MirrorState.objects.filter(kind=MirrorKind.MEMBERS, as_of__isnull=False).exists(), 60)


def _groups(customer: Any) -> list[str]:
    from portal.domain.people.models import Group

    return list(Group.objects.values_list("membergroup_id", flat=True))


def _state(job: Job) -> str:
    return str(Job.objects.values_list("state", flat=True).get(pk=job.pk))


def _file(rows: int, *, known: int, seed: int) -> bytes:
    """Return a file with `known` rows of existing members, every third of them changed, and new rows for the rest."""
    existing = (
        (
            m["member_code"],
            m["member_name"] + ("改" if n % 3 == 0 else ""),
            m["membergroup_name"],
            m.get("card_data", ""),
        )
        for n, m in enumerate(people.members(known, seed))
    )
    new = ((f"N{n:06}", f"新人 {n}", "第1営業部", "") for n in range(rows - known))
    return _lines([*existing, *new])


def _lines(rows: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADINGS)
    writer.writerows(rows)
    return text.getvalue().encode()


def _child(ground: Ground, *arguments: str) -> dict[str, float]:
    """Run a separate process, so that its peak memory can be measured alone."""
    command = [PYTHON, "-m", "bench.dryruns", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=child_environment(ground.house), stdout=subprocess.PIPE, text=True, check=True
    )
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer
