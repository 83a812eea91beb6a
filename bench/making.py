"""One report over the last year in a separate process. Prints seconds and memory as JSON on the last line.

Run as python -m bench.making KIND AREA TENANT USER; AREA may be empty.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from portal.reports.models import Report

_TIMES = 3
_PATIENCE = 60.0  # seconds; a slower search runs only once
_COUNT = "SELECT count(*) FROM history_history WHERE tenant_id = %(tenant)s AND at >= %(since)s AND at < %(until)s"
_USED = " AND category = 'normal' AND member_id <> ''"
_DOORS = " AND device_id = ANY(%(doors)s::text[])"


def main(kind: str, area_id: str, tenant_id: str, user_id: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
    import django

    django.setup()
    from django.utils import timezone

    from portal.base.ui.times import local
    from portal.reports import content
    from portal.reports.models import Report
    from tenants.models import Tenant
    from tenants.scope import tenant_scope

    now = timezone.now()
    today = local(now).date()
    since, _midnight = content.period_of_days(today - timedelta(days=364), today)
    with tenant_scope(Tenant.objects.get(pk=tenant_id)):
        choices = {"area": area_id, "area_name": "Bench"} if area_id else {}
        values = {"kind": kind, "choices": choices, "language": "en", "since": since, "until": now, "due_at": now}
        report = Report.objects.create(**values, by_id=int(user_id))
        memory = _Memory()
        print(json.dumps(_beside(report) | _made(report, memory.before)))


def _beside(report: "Report") -> dict[str, Any]:
    """Return the seconds for finding the report's lines, and for a plain count: the median of some turns."""
    from portal.reports.kinds import KINDS

    statement, values = _plain(report)
    _timed(lambda: _count(statement, values))  # the first statement reads from the disk
    turns: list[tuple[float, float]] = []
    while len(turns) < _TIMES and sum(found for found, _counted in turns) < _PATIENCE:
        plain, rows = _timed(lambda: _count(statement, values))
        found, lines = _timed(lambda: sum(1 for _line in KINDS[report.kind].create_content(report).lines))
        turns.append((found, plain))
    found, plain = sorted(turns)[len(turns) // 2]
    return {"found": found, "plain": plain, "rows": rows, "lines": lines}


def _made(report: "Report", before: float) -> dict[str, Any]:
    """Return the seconds and memory of creating the report as a worker does, and of writing its files."""
    from portal.reports import report_files, report_worker
    from portal.reports.content import ReportHead, printed_lines
    from portal.reports.kinds import KINDS

    memory, answer = _Memory(before), {"id": report.pk}
    answer["made"], _nothing = _timed(lambda: report_worker.create_report(report.pk))
    answer["made_memory"] = memory.growth
    report.refresh_from_db()
    assert report.head is not None, report.trouble or "not made"
    head, labels = ReportHead.from_json(report.head), {"tenant": str(report.tenant), "made": "Bench"}
    lines = list(KINDS[report.kind].create_content(report).lines)
    forms = {
        "pdf": lambda: report_files.draw_pdf(head, printed_lines(lines), **labels),
        "xlsx": lambda: b"".join(report_files.write_report_workbook(head, lines, **labels)),
    }
    for form, write in forms.items():
        memory = _Memory()
        answer[form], file = _timed(write)
        answer |= {f"{form}_size": len(file) / 1e6, f"{form}_memory": memory.growth}
    return answer


def _plain(report: "Report") -> tuple[str, dict[str, Any]]:
    """Return a statement that counts the records which the report reads, and its values."""
    from portal.domain.places.models import Area

    area_id = report.choices.get("area", "")
    areas = Area.objects.filter(area_id=area_id) if area_id else Area.objects.all()
    doors = sorted({each["device_id"] for area in areas for each in area.devices_list})
    values = {"tenant": report.tenant_id, "doors": doors, "since": report.since, "until": report.until}
    more = "" if report.kind == "week" else _USED
    return _COUNT + more + (_DOORS if area_id or report.kind == "unused" else ""), values


def _count(statement: str, values: dict[str, Any]) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.fetchone()[0])


def _timed(act: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = act()
    return time.perf_counter() - started, found


class _Memory:
    """The largest growth of this process since the start, in megabytes above `before` (its memory then)."""

    def __init__(self, before: float | None = None) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak to the present size
        self.before = _peak() if before is None else before

    @property
    def growth(self) -> float:
        return _peak() - self.before


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
