"""Reports about keys, guests, alerts and staff's actions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from statistics import median

from django.db.models import Count, Max, Min, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accessapi.overrides import States
from portal.base.files.cells import CellValue
from portal.base.ui.times import local, local_or_none, moment_text
from portal.domain.alerts import overdue_keys
from portal.domain.alerts.models import Alert
from portal.domain.alerts.words import AlertTexts
from portal.domain.events import MirrorKind
from portal.domain.history import gaps
from portal.domain.places.models import Key, KeyBox, KeyState
from portal.domain.sync.freshness import Freshness, describe_outdated, freshness_of
from portal.domain.visits.models import Visit
from portal.reports.content import (
    AlertMonitoring,
    ReportContent,
    ReportTable,
    TableLine,
    before_portal_text,
    completeness,
    figure_of,
    is_complete,
    lines_of_table,
    name_guests,
    period_text,
    portal_begun_text,
    unrecorded_text,
)
from portal.reports.models import Report
from tenants import sentences
from tenants.audit_log.queries import find_actions
from tenants.connections.words import TITLES

_BATCH_SIZE = 1000
# A placeholder for every value of a sentence, including plural counts.
_PLACEHOLDER = 424242


# Keys


def keys(report: Report) -> ReportContent:
    """Return all keys with their known location."""
    states = report.tenant.environment.catalogue.states
    rows = list(overdue_keys.keys_with_state(by_log=True).order_by("key_box__key_device_name", "unit_no", "pk"))
    offline = sum(not overdue_keys.is_connected(box, states) for box in KeyBox.objects.all())
    out = sum(1 for key in rows if key.state == KeyState.OUT)
    unknown = sum(1 for key in rows if key.state == KeyState.UNKNOWN)
    columns = [_("Key box"), _("Key"), pgettext("key", "State"), pgettext("key", "Since"), _("Holder"), _("Checked at")]
    fresh = freshness_of(report.tenant)
    late = [*describe_outdated(fresh, MirrorKind.KEY_BOXES), *log_gap_text(fresh)]
    content = ReportContent(
        title=_("Keys"),
        about="",
        period=_("As of %(at)s") % {"at": moment_text(report.until)},
        sheets=[ReportTable(_("Keys"), columns)],
        lines=lines_of_table([_key_cells(key, states) for key in rows]),
        figures=[
            figure_of(_("Keys out"), out, is_at_least=bool(unknown or late)),
            figure_of(
                _("Key box and log don’t match"),
                sum(1 for key in rows if key.differs),
                is_at_least=bool(unknown or late),
            ),
        ],
        complete=[
            *_unknown_text(len(rows), unknown, late),
            *late,
            *([overdue_keys.offline_text(offline) % {"n": offline}] if offline else []),
        ],
        is_partial=bool(unknown or offline or late),
    )
    name_guests([key.holder_id for key in rows if key.state == KeyState.OUT and key.holder_id], content)
    return content


def _unknown_text(number: int, unknown: int, late: Sequence[str]) -> list[str]:
    """Return a note about keys with unknown location; empty if `late` already names what is missing."""
    if unknown:
        text = ngettext("%(n)s key with unknown location", "%(n)s keys with unknown location", unknown)
        return [text % {"n": unknown}]
    if late:
        return []
    return [_("All key locations known") if number else _("No keys")]


def log_gap_text(fresh: Freshness) -> list[str]:
    """Return why the log does not include the present; empty if it does. Reports about the present depend on it."""
    log = fresh[MirrorKind.HISTORIES]
    if log.as_of is None:
        return [_("The activity log is not loaded.")]
    return [paused] if (paused := gaps.paused_text(log)) else []


def _key_cells(key: Key, states: States) -> Sequence[CellValue]:
    state, since = KeyState(key.state), key.since_seen()[0]
    holder = (key.holder_name or key.holder_id) if state == KeyState.OUT else ""
    named = key.unit_name or key.unit_no
    status = overdue_keys.state_of(key, states).word
    return [str(key.key_box), named, status, local_or_none(since), holder, local_or_none(key.known_at)]


# Guests


def guests(report: Report) -> ReportContent:
    """Return the visits of the period, and the number of visits by host."""
    rows = Visit.objects.filter(use_date_start__gte=report.since, use_date_start__lt=report.until)
    erased = rows.filter(erased_at__isnull=False).count()
    visits = rows.filter(erased_at=None).order_by("use_date_start", "pk")
    begun, unknown = before_portal_text(report.since), unrecorded_text(report.until)
    start = portal_begun_text(report.since, report.until)
    late = describe_outdated(freshness_of(report.tenant), MirrorKind.GUESTS)
    unmarked = not is_complete(report.since, report.until)
    hosts = Counter(visits.exclude(host_name="").values_list("host_name", flat=True))
    return ReportContent(
        title=_("Guests"),
        about="",
        period=period_text(report.since, report.until),
        sheets=[
            ReportTable(
                _("Visits"),
                [
                    pgettext("visit", "From"),
                    pgettext("visit", "To"),
                    pgettext("person", "Name"),
                    _("Company"),
                    _("Host"),
                    _("Arrived"),
                    _("Left"),
                ],
            ),
            ReportTable(_("By host"), [_("Host"), _("Visits")], numbers=[1]),
        ],
        lines=_visits(visits, hosts),
        named_since=visits.aggregate(end=Min("use_date_end"))["end"],
        figures=[
            figure_of(_("Visits"), rows.count(), is_at_least=bool(begun or late), begun=start, unknown=unknown),
            figure_of(
                _("Arrived"),
                rows.filter(arrived_at__isnull=False).count(),
                is_at_least=bool(begun or late) or unmarked,
                begun=start,
                unknown=unknown,
            ),
        ],
        is_partial=bool(begun or late) or unmarked,
        complete=[
            _("Visits recorded here; arrivals from the desk and the log."),
            *begun,
            *late,
            *(completeness(report) if unmarked else []),
            *([_erased_text(erased)] if erased else []),
        ],
    )


def _erased_text(erased: int) -> str:
    """Return how many visits have no names any more."""
    return ngettext(
        "%(n)s visit without names: deleted after the retention period",
        "%(n)s visits without names: deleted after the retention period",
        erased,
    ) % {"n": erased}


def _visits(rows: QuerySet[Visit], hosts: Counter[str]) -> Iterator[TableLine]:
    for visit in rows.iterator(chunk_size=_BATCH_SIZE):
        times = [local(visit.use_date_start), local(visit.use_date_end)]
        who = [visit.guest_name, visit.company, visit.host_name]
        yield 0, [*times, *who, local_or_none(visit.arrived_at), local_or_none(visit.left_at)]
    for host, count in sorted(hosts.items(), key=lambda each: (-each[1], each[0])):
        yield 1, [host, count]


# Alerts


def alerts(report: Report) -> ReportContent:
    """Return the alerts of the period by kind, with the times until they were assigned and closed."""
    rows = list(
        Alert.objects.filter(began_at__gte=report.since, began_at__lt=report.until)
        .select_related("taken_by", "closed_by")
        .order_by("began_at", "pk")
    )
    taken = sum(1 for row in rows if row.taken_at)
    monitoring = AlertMonitoring.load()
    doubt = monitoring.missing_text(report.since, report.until)
    start = monitoring.begun_text(report.since, report.until)
    unknown = "" if monitoring.is_on_in(report.until) else _("not monitored")
    is_partial = bool(doubt) or not is_complete(report.since, report.until)
    is_empty = is_partial and not rows
    by_kind: dict[str, list[Alert]] = defaultdict(list)
    texts = AlertTexts(None, {})
    for row in rows:
        by_kind[texts.title(row)].append(row)
    kinds = [pgettext("alert", "Kind"), _("Alerts"), pgettext("alert", "Assigned"), _("Median time to assign")]
    kinds += [_("Longest"), pgettext("alert", "Open")]
    each = [_("Began"), pgettext("alert", "Kind"), _("Door"), pgettext("alert", "Assigned to")]
    each += [_("Time to assign"), _("Closed by"), pgettext("alert", "Resolved")]
    return ReportContent(
        title=_("Alerts"),
        about="",
        period=period_text(report.since, report.until),
        sheets=[
            ReportTable(_("By kind"), kinds, numbers=[1, 2, 3, 4, 5]),
            ReportTable(_("All alerts"), each, numbers=[4]),
        ],
        lines=_alerts(by_kind, rows, texts),
        figures=[
            figure_of(_("Alerts"), len(rows), is_at_least=is_partial, begun=start, unknown=unknown),
            figure_of(pgettext("alert", "Assigned"), taken, is_at_least=is_empty, unknown=unknown),
            figure_of(_("Never assigned"), len(rows) - taken, is_at_least=is_empty, unknown=unknown),
        ],
        complete=[_("Alerts from enabled rules"), *doubt, *completeness(report)],
        is_partial=is_partial,
    )


def _alerts(by_kind: dict[str, list[Alert]], rows: list[Alert], texts: AlertTexts) -> Iterator[TableLine]:
    for title, some in sorted(by_kind.items(), key=lambda each: (-len(each[1]), each[0])):
        waits = [(row.taken_at - row.began_at).total_seconds() for row in some if row.taken_at]
        times = [timedelta(seconds=each) for each in (median(waits), max(waits))] if waits else [None, None]
        yield 0, [title, len(some), len(waits), *times, sum(1 for row in some if row.closed_at is None)]
    for row in rows:
        taken = row.taken_at - row.began_at if row.taken_at else None
        who = [str(row.taken_by or ""), taken, str(row.closed_by or "")]
        yield 1, [local(row.began_at), texts.title(row), texts.place(row), *who, local_or_none(row.ended_at)]


# Staff


def staff(report: Report) -> ReportContent:
    """Return the number of actions of each person, from the audit log."""
    rows = find_actions().filter(act_at__gte=report.since, act_at__lt=report.until, by__isnull=False).order_by()
    by = rows.values_list("by__name", "by__email", "action")
    found = by.annotate(n=Count("pk"), support=Count("support_session"), last=Max("at"))
    start, unknown = portal_begun_text(report.since, report.until), unrecorded_text(report.until)
    sorted_rows = sorted(found, key=lambda row: (row[0] or row[1], -row[3], row[2]))
    columns = [
        pgettext("person", "Name"),
        _("E-mail"),
        _("Action"),
        pgettext("count", "Times"),
        _("In support sessions"),
        _("Last"),
    ]
    return ReportContent(
        title=_("Staff activity"),
        about="",
        period=period_text(report.since, report.until),
        sheets=[ReportTable(_("By person and action"), columns)],
        lines=lines_of_table(
            [
                [name or email, email, _action_text(action), n, support, local(last)]
                for name, email, action, n, support, last in sorted_rows
            ],
        ),
        figures=[
            figure_of(label, number, is_at_least=bool(unknown), begun=start, unknown=unknown)
            for label, number in (
                (pgettext("report", "People"), len({row[1] for row in sorted_rows})),
                (_("Actions"), sum(row[3] for row in sorted_rows)),
                (_("In support sessions"), sum(row[4] for row in sorted_rows)),
            )
        ],
        complete=[_("From this portal’s audit log, including support staff"), *before_portal_text(report.since)],
        is_partial=bool(before_portal_text(report.since)),
    )


def _action_text(action: str) -> str:
    """Return an action as text, without the values of its sentence. Unknown codes are returned unchanged."""
    if action in TITLES:
        return str(TITLES[action])
    if action not in sentences.TEXTS:
        return action
    text = str(sentences.TEXTS[action] % defaultdict(lambda: _PLACEHOLDER)).replace(str(_PLACEHOLDER), "…")
    return re.split(r"[:：]\s*…", text)[0]
