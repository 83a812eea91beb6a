"""The kinds of reports: title, permissions, choices, and the function that creates the content."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.reports import access_reports, activity_reports, week_report
from portal.reports.content import ReportContent
from portal.reports.models import Every, Report
from tenants.access import Access
from tenants.roles import Permission


@dataclass(frozen=True)
class ReportKind:
    """A kind of report. `permissions` are needed to open it and to receive it by mail.

    `area_choice`: an area may or must be chosen. `is_as_of_now`: the report describes the moment of its creation and
    has no period. `every`: the default period.
    """

    name: str
    title: Promise
    about: Promise
    permissions: frozenset[Permission]
    create_content: Callable[[Report], ReportContent]
    area_choice: str = ""  # "", "may" or "must"
    is_as_of_now: bool = False
    every: Every = Every.WEEK


_ALL = (
    ReportKind(
        "week",
        _("Week at a glance"),
        _("Entries, guests, alerts and staff actions by day"),
        frozenset({Permission.REPORTS_VIEW, Permission.LOGS_VIEW, Permission.ALERTS_VIEW}),
        week_report.week_at_a_glance,
    ),
    ReportKind(
        "may_enter",
        _("Access by area"),
        _("Members with access and their hours"),
        frozenset({Permission.REPORTS_VIEW, Permission.MEMBERS_VIEW, Permission.AREAS_VIEW}),
        access_reports.access_by_area,
        area_choice="must",
        is_as_of_now=True,
    ),
    ReportKind(
        "entered",
        _("Who entered"),
        _("People who entered, with the number of entries, the first and the last"),
        frozenset({Permission.REPORTS_VIEW, Permission.LOGS_VIEW, Permission.MEMBERS_VIEW}),
        access_reports.who_entered,
        area_choice="may",
    ),
    ReportKind(
        "unused",
        _("Unused credentials and rights"),
        _("Unused credentials, and rights to areas without an entry"),
        frozenset({Permission.REPORTS_VIEW, Permission.LOGS_VIEW, Permission.MEMBERS_VIEW, Permission.AREAS_VIEW}),
        access_reports.unused_access,
    ),
    ReportKind(
        "keys",
        _("Keys"),
        _("Keys that are out, with holder and time"),
        frozenset({Permission.REPORTS_VIEW, Permission.DEVICES_VIEW, Permission.LOGS_VIEW}),
        activity_reports.keys,
        is_as_of_now=True,
    ),
    ReportKind(
        "guests",
        _("Guests"),
        _("Visits with hosts, companies and arrivals"),
        frozenset({Permission.REPORTS_VIEW, Permission.GUESTS_VIEW}),
        activity_reports.guests,
        every=Every.MONTH,
    ),
    ReportKind(
        "alerts",
        _("Alerts"),
        _("Alerts by kind, with the time to assign and close."),
        frozenset({Permission.REPORTS_VIEW, Permission.ALERTS_VIEW, Permission.LOGS_VIEW}),
        activity_reports.alerts,
    ),
    ReportKind(
        "staff",
        _("Staff activity"),
        _("Staff actions by person"),
        frozenset({Permission.REPORTS_VIEW, Permission.AUDIT_VIEW}),
        activity_reports.staff,
    ),
)

KINDS: Mapping[str, ReportKind] = {kind.name: kind for kind in _ALL}


def may_see(access: Access | None, kind: str) -> bool:
    """Check whether a person may see everything in reports of this kind now."""
    needed = KINDS[kind].permissions
    return access is not None and not access.support_session and all(access.can(each) for each in needed)
