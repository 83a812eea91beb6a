"""Views of a log record, of a person's day and of a door's day."""

from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from portal.base.ui.url_lookup import get_row_or_404, url_in_tenant
from portal.domain.log import visibility
from portal.logs import door_hours, person_timeline
from portal.logs.days import day_or_404
from portal.logs.people import person_or_404, place_or_404
from portal.logs.record_page import record_context
from portal.logs.record_types import RecordType
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.LOGS_TODAY)
def record(request: TenantRequest, history_id: str) -> HttpResponse:
    """Show a record with all details from the service and with related records."""
    found = get_row_or_404(visibility.visible_records(request.access), history_id=history_id)
    setattr(request, "shown_record", found)  # noqa: B010 - so that panels of this page need no second query
    return render(request, "logs/record.html", record_context(request, found))


@tenant_view(Permission.LOGS_TODAY)
def person_day(request: TenantRequest, member_id: str, day: str) -> HttpResponse:
    """Show a person's day as a timeline, with the table below it."""
    of = day_or_404(request, day, subject_id=member_id)
    words = request.tenant.environment.catalogue
    found = list(
        person_timeline.records_on_day(visibility.visible_records(request.access), member_id, of)[
            : person_timeline.MAX_RECORDS + 1
        ]
    )
    shown, who = found[: person_timeline.MAX_RECORDS], person_or_404(request.access, member_id, found)
    line = person_timeline.draw_timeline(of, shown, words)
    context = {
        "of": of,
        "who": who,
        "line": line,
        "rows": [(each, line.marks[each.pk]) for each in shown],
        "figures": person_timeline.day_figures(shown, line),
        "sees_areas": request.access.can(Permission.AREAS_VIEW),
        "cut": len(found) > person_timeline.MAX_RECORDS,
        "most": person_timeline.MAX_RECORDS,
    }
    return render(request, "logs/person_day.html", context)


@tenant_view(Permission.LOGS_TODAY)
def door_day(request: TenantRequest, device_id: str, day: str) -> HttpResponse:
    """Show a door's or a key box's day by the hour, with the table below it."""
    of = day_or_404(request, day, subject_id=device_id)
    place = place_or_404(request.access, device_id)
    words = request.tenant.environment.catalogue
    records = door_hours.records_at_door(visibility.visible_records(request.access), device_id, of)
    hours = door_hours.count_hours(records, of, words, partial(_address_of_hour, request, device_id))
    loud = hours.totals[RecordType.REFUSED] + hours.totals[RecordType.ALARM]
    context = {
        "of": of,
        "place": place,
        "hours": hours,
        "loud": door_hours.attention_records(records, words) if loud else [],
        "loud_total": loud,
    }
    return render(request, "logs/door_day.html", context)


def _address_of_hour(request: TenantRequest, device_id: str, start: datetime) -> str:
    """Return the address of a device's log in one hour."""
    last = start + timedelta(minutes=59, seconds=59)
    asked = {"from": f"{start:%Y-%m-%dT%H:%M:%S}", "to": f"{last:%Y-%m-%dT%H:%M:%S}", "device": device_id}
    return f"{url_in_tenant('logs:index', request.tenant.slug)}?{urlencode(asked)}"
