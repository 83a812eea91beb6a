"""Reports of what is done in a building: keys, guests, alerts and how fast they were taken, staff's own actions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from statistics import median

from django.db.models import Count, Max, Min, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accessapi.overrides import States
from portal.core.alerts.models import Alert
from portal.core.alerts.shown import Words
from portal.core.keys import states
from portal.core.log import gaps
from portal.core.mirror.freshness import Freshness, behind, freshness_of
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Key, KeyBox
from portal.core.mirror.models.keys import KeyState
from portal.core.visits.models import Visit
from portal.reports import periods
from portal.reports.content import Cell, Content, Line, Sheet, of_sheet
from portal.reports.kinds.passages import before_portal, completeness, figure, is_whole, name_guests, unwatched
from portal.reports.models import Report
from portal.reports.periods import stamped
from tenants import sentences
from tenants.connections.titles import TITLES
from tenants.trail.queries import acts

_AT_ONCE = 1000
# Stands for every value of a sentence, also for those that are counted.
_VALUE = 424242


def _span(length: timedelta | float | None) -> str:
    """Return a length of time in hours, minutes and seconds."""
    if length is None:
        return ""
    seconds = int(length.total_seconds() if isinstance(length, timedelta) else length)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


# Keys


def keys(report: Report) -> Content:
    """Return every key with where it is, as far as known."""
    words = report.tenant.environment.catalogue.states
    rows = list(states.known(by_log=True).order_by("key_box__key_device_name", "unit_no", "pk"))
    offline = sum(not states.is_connected(box, words) for box in KeyBox.objects.all())
    out = sum(1 for key in rows if key.state == KeyState.OUT)
    unknown = sum(1 for key in rows if key.state == KeyState.UNKNOWN)
    columns = [_("Key box"), _("Key"), pgettext("key", "State"), pgettext("key", "Since"), _("With"), _("Known at")]
    fresh = freshness_of(report.tenant)
    late = [*behind(fresh, Kind.KEY_BOXES), *of_log(fresh)]
    content = Content(
        title=_("Keys"),
        about="",
        period=_("As of %(at)s") % {"at": stamped(report.until)},
        sheets=[Sheet(_("Keys"), columns)],
        lines=of_sheet(0, [_key(key, words) for key in rows]),
        figures=[
            figure(_("Keys out"), out, at_least=bool(unknown or late)),
            figure(
                _("Key box and log disagree"), sum(1 for key in rows if key.differs), at_least=bool(unknown or late)
            ),
        ],
        complete=[
            *_known(len(rows), unknown, late),
            *late,
            *([states.offline_words(offline) % {"n": offline}] if offline else []),
        ],
        is_partial=bool(unknown or offline or late),
    )
    name_guests([key.holder_id for key in rows if key.state == KeyState.OUT and key.holder_id], content)
    return content


def _known(number: int, unknown: int, late: Sequence[str]) -> list[str]:
    """Return of how many keys it is not known where they are; nothing where `late` says what is not known."""
    if unknown:
        words = ngettext("%(n)s key: not known where it is.", "%(n)s keys: not known where they are.", unknown)
        return [words % {"n": unknown}]
    if late:
        return []
    return [_("Known of every key.") if number else _("No keys.")]


def of_log(fresh: Freshness) -> list[str]:
    """Return why the log does not tell of now, on which a report of now rests; nothing where it does."""
    log = fresh[Kind.HISTORIES]
    if log.as_of is None:
        return [_("The activity log is not loaded.")]
    return [paused] if (paused := gaps.paused(log)) else []


def _key(key: Key, words: States) -> Sequence[Cell]:
    state, since = KeyState(key.state), key.since_seen()[0]
    with_whom = (key.holder_name or key.holder_id) if state == KeyState.OUT else ""
    named = key.unit_name or key.unit_no
    said = states.state_of(key, words).word
    return [str(key.key_box), named, said, stamped(since), with_whom, stamped(key.known_at)]


# Guests


def guests(report: Report) -> Content:
    """Return the visits of the period, and who had how many."""
    rows = Visit.objects.filter(use_date_start__gte=report.since, use_date_start__lt=report.until)
    erased = rows.filter(erased_at__isnull=False).count()
    kept = rows.filter(erased_at=None).order_by("use_date_start", "pk")
    begun, late = before_portal(report.since), behind(freshness_of(report.tenant), Kind.GUESTS)
    unmarked = not is_whole(report.since, report.until)
    hosts = Counter(kept.exclude(host_name="").values_list("host_name", flat=True))
    forgotten = ngettext(
        "%(n)s visit without names: they were deleted after their time.",
        "%(n)s visits without names: they were deleted after their time.",
        erased,
    )
    return Content(
        title=_("Guests"),
        about="",
        period=periods.words(report.since, report.until),
        sheets=[
            Sheet(
                _("Visits"),
                [_("From"), _("To"), pgettext("person", "Name"), _("Company"), _("Host"), _("Arrived"), _("Left")],
            ),
            Sheet(_("By host"), [_("Host"), _("Visits")]),
        ],
        lines=_visits(kept, hosts),
        named_since=kept.aggregate(end=Min("use_date_end"))["end"],
        figures=[
            figure(_("Visits"), rows.count(), at_least=bool(begun or late)),
            figure(
                _("Arrived"),
                rows.filter(arrived_at__isnull=False).count(),
                at_least=bool(begun or late) or unmarked,
            ),
        ],
        is_partial=bool(begun or late) or unmarked,
        complete=[
            _("Visits entered in this portal; arrivals as the desk and the log noted them."),
            *begun,
            *late,
            *(completeness(report) if unmarked else []),
            *([forgotten % {"n": erased}] if erased else []),
        ],
    )


def _visits(rows: QuerySet[Visit], hosts: Counter[str]) -> Iterator[Line]:
    for visit in rows.iterator(chunk_size=_AT_ONCE):
        times = [stamped(visit.use_date_start), stamped(visit.use_date_end)]
        who = [visit.guest_name, visit.company, visit.host_name]
        yield 0, [*times, *who, stamped(visit.arrived_at), stamped(visit.left_at)]
    for host, count in sorted(hosts.items(), key=lambda each: (-each[1], each[0])):
        yield 1, [host, count]


# Alerts


def alerts(report: Report) -> Content:
    """Return the alerts of the period by kind, with how long it took until somebody took and closed them."""
    rows = list(
        Alert.objects.filter(began_at__gte=report.since, began_at__lt=report.until)
        .select_related("taken_by", "closed_by")
        .order_by("began_at", "pk")
    )
    taken = [(row.taken_at - row.began_at).total_seconds() for row in rows if row.taken_at]
    doubt = unwatched(report.since, report.until)
    is_partial = bool(doubt) or not is_whole(report.since, report.until)
    by_kind: dict[str, list[Alert]] = defaultdict(list)
    said = Words(None, {})
    for row in rows:
        by_kind[said.title(row)].append(row)
    kinds = [pgettext("alert", "Kind"), _("Alerts"), _("Taken"), _("Time to take, median"), _("Longest"), _("Open")]
    each = [_("Began"), pgettext("alert", "Kind"), _("Door"), _("Taken by"), _("After"), _("Closed by"), _("Ended")]
    return Content(
        title=_("Alerts"),
        about="",
        period=periods.words(report.since, report.until),
        sheets=[Sheet(_("By kind"), kinds), Sheet(_("All alerts"), each)],
        lines=_alerts(by_kind, rows, said),
        figures=[
            figure(_("Alerts"), len(rows), at_least=is_partial),
            figure(_("Taken"), len(taken)),
            figure(_("Never taken"), len(rows) - len(taken)),
        ],
        complete=[_("Alerts by the rules that were on."), *doubt, *completeness(report)],
        is_partial=is_partial,
    )


def _alerts(by_kind: dict[str, list[Alert]], rows: list[Alert], said: Words) -> Iterator[Line]:
    for title, some in sorted(by_kind.items(), key=lambda each: (-len(each[1]), each[0])):
        waits = [(row.taken_at - row.began_at).total_seconds() for row in some if row.taken_at]
        times = [_span(median(waits)), _span(max(waits))] if waits else ["", ""]
        yield 0, [title, len(some), len(waits), *times, sum(1 for row in some if row.closed_at is None)]
    for row in rows:
        taken = row.taken_at - row.began_at if row.taken_at else None
        who = [str(row.taken_by or ""), _span(taken), str(row.closed_by or "")]
        yield 1, [stamped(row.began_at), said.title(row), said.place(row), *who, stamped(row.ended_at)]


# Staff


def staff(report: Report) -> Content:
    """Return how often each person did what, from the audit log."""
    rows = acts().filter(act_at__gte=report.since, act_at__lt=report.until, by__isnull=False).order_by()
    by = rows.values_list("by__name", "by__email", "action")
    found = by.annotate(n=Count("pk"), support=Count("support_session"), last=Max("at"))
    told = sorted(found, key=lambda row: (row[0] or row[1], -row[3], row[2]))
    columns = [
        pgettext("person", "Name"),
        _("E-mail"),
        _("Action"),
        pgettext("count", "Times"),
        _("In support sessions"),
        _("Last"),
    ]
    return Content(
        title=_("Staff’s actions"),
        about="",
        period=periods.words(report.since, report.until),
        sheets=[Sheet(_("By person and action"), columns)],
        lines=of_sheet(
            0,
            [
                [name or email, email, _titled(action), n, support, stamped(last)]
                for name, email, action, n, support, last in told
            ],
        ),
        figures=[
            figure(pgettext("report", "People"), len({row[1] for row in told})),
            figure(_("Actions"), sum(row[3] for row in told)),
            figure(_("In support sessions"), sum(row[4] for row in told)),
        ],
        complete=[_("Audit log of this portal, support staff included."), *before_portal(report.since)],
        is_partial=bool(before_portal(report.since)),
    )


def _titled(action: str) -> str:
    """Return an action in words, without the values of its sentence; a code that is not known as it is."""
    if action in TITLES:
        return str(TITLES[action])
    if action not in sentences.TEXTS:
        return action
    said = str(sentences.TEXTS[action] % defaultdict(lambda: _VALUE)).replace(str(_VALUE), "…")
    return re.split(r"[:：]\s*…", said)[0]
