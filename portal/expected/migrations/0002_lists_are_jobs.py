"""Every list of expected guests becomes a job, with its rows; the number by which its addresses, its requests and the
audit trail know it is kept. Jobs from now on are numbered past all of those, so that no number means two lists.
"""

from typing import Any

from django.db import migrations

from tenants.scope import across_tenants

# What came of a row's request, where it has one.
_CAME = {
    "succeeded": "succeeded",
    "uncertain": "uncertain",
    "failed": "failed",
    "expired": "failed",
    "cancelled": "failed",
}
_NOTES = ("unsent_remarks",)
_NUMBER_ON = """
SELECT setval(pg_get_serial_sequence('bulk_job', 'id'), greatest(lists, jobs))
FROM (SELECT pg_sequence_last_value(pg_get_serial_sequence('expected_expectedlist', 'id')::regclass) AS lists,
             pg_sequence_last_value(pg_get_serial_sequence('bulk_job', 'id')::regclass) AS jobs) last
WHERE lists IS NOT NULL
"""


def move(apps: Any, schema_editor: Any) -> None:
    old, jobs = apps.get_model("expected", "ExpectedList"), apps.get_model("bulk", "Job")
    with across_tenants("the lists of all tenants become jobs"):
        schema_editor.execute(_NUMBER_ON, params=None)
        for kept in old.objects.order_by("pk"):
            _rows(apps, kept, jobs.objects.create(**_job(kept)))
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE", params=None)
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED", params=None)


def _job(kept: Any) -> dict[str, Any]:
    names = ("tenant_id", "by_id", "support_session_id", "state", "created_at", "started_at", "finished_at", "stop_asked",
             "due_at", "last_end", "erased_at")  # fmt: skip
    options = {"mail": kept.mail, "fingerprint": bytes(kept.fingerprint).hex(), "list": kept.pk}
    return {name: getattr(kept, name) for name in names} | {
        "kind": "expected",
        "permission": "guests_desk",
        "title": kept.name,
        "options": options | ({"doubles": True} if kept.with_doubles else {}),
        "headings": None if kept.erased_at else kept.headings,
        "checked_at": kept.created_at,
        "halt": "person" if kept.state == "stopped" else "",
    }


def _rows(apps: Any, kept: Any, job: Any) -> None:
    old, row = apps.get_model("expected", "ExpectedRow"), apps.get_model("bulk", "Row")
    found = old.objects.filter(job=kept).select_related("visit__intent").order_by("line")
    made = [row(tenant_id=kept.tenant_id, job=job, line=each.line, **_row(each)) for each in found]
    row.objects.bulk_create(made, batch_size=500)
    type(job).objects.filter(pk=job.pk).update(size=len(made))


def _row(each: Any) -> dict[str, Any]:
    words = [word for _field, word, _facts in each.problems]
    intent = each.visit.intent if each.state == "asked" and each.visit is not None else None
    stopped = intent is not None and intent.state == "cancelled" and intent.reason == "stopped"
    told = {
        "content": None if each.content is None else {**each.content, "marks": each.marks},
        "notes": [problem for problem in each.problems if problem[1] in _NOTES],
        "attempts": each.attempt,
        "action": {"ready": "create", "double": "double", "refused": "refused"}[each.verdict],
        "state": "checked",
        "problems": [problem for problem in each.problems if problem[1] not in _NOTES],
    }
    if each.state == "pending":
        problems = [problem for problem in told["problems"] if problem[1] == "waits"]
        return told | {"action": "create", "state": "pending", "problems": problems}
    if stopped or (each.state == "left_out" and "stopped" in words):
        return told | {"action": "create", "state": "stopped", "problems": [], "attempts": each.attempt + stopped}
    if each.state == "left_out":
        appeared = "appeared" in words
        return told | ({"action": "create", "state": "failed"} if appeared else {"state": "stopped"})
    if each.state == "asked":
        came = "uncertain" if intent is None else _CAME.get(intent.state, "sent")
        return told | {"action": "create", "state": came, "problems": [], "intent": intent}
    return told


class Migration(migrations.Migration):
    dependencies = [
        ("bulk", "0007_rows_asked_one_by_one"),
        ("expected", "0001_initial"),
        ("guests", "0005_desk_acts"),
    ]

    operations = [
        migrations.RunPython(move, migrations.RunPython.noop),
        migrations.DeleteModel("ExpectedRow"),
        migrations.DeleteModel("ExpectedList"),
    ]
