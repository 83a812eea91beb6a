"""One dry run in a separate process. Prints seconds and peak memory as JSON on the last line.

Run as python -m bench.dryruns ours TENANT IMPORT, or python -m bench.dryruns beside TENANT FILE ROWS.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path


def main(which: str, tenant_id: str, *arguments: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
    import django

    django.setup()
    from tenants.models import Tenant
    from tenants.scope import tenant_scope

    run = {"ours": ours, "beside": beside}[which]
    with tenant_scope(Tenant.objects.get(pk=tenant_id)):
        seconds = run(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak}))


def ours(job_id: str) -> float:
    from portal.domain.jobs.models import Job, JobState
    from portal.imports import checking

    started = time.perf_counter()
    checking.check(int(job_id))
    took = time.perf_counter() - started
    state = Job.objects.get(pk=job_id).state
    assert state == JobState.CHECKED, state
    return took


def beside(path: str, rows: str) -> float:
    """Run the import as in django-import-export's handbook: a resource, a dataset, `dry_run=True`."""
    import tablib
    from import_export.resources import ModelResource

    from portal.domain.people.models import Member

    class Resource(ModelResource):
        class Meta:
            model = Member
            import_id_fields = ("member_code",)
            fields = ("member_code", "member_name", "membergroup_name")

    head, *lines = Path(path).read_text().splitlines()[: int(rows) + 1]
    assert head == "member code,name,group,card"
    names = "member_code,member_name,membergroup_name,card"
    data = tablib.Dataset().load("\n".join([names, *lines]), format="csv")
    started = time.perf_counter()
    result = Resource().import_data(data, dry_run=True)
    took = time.perf_counter() - started
    assert not result.has_errors(), [str(error.error) for row in result.rows[:3] for error in row.errors]
    return took


if __name__ == "__main__":
    main(*sys.argv[1:])
