"""Reports about access: people with access to an area, people who entered, and unused credentials and rights."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.areas import access_counts
from portal.areas.models import EVERYWHERE, Grant, Pass
from portal.areas.queries import LoadedRights
from portal.base.files.cells import CellValue
from portal.base.ui.times import local, local_or_none, moment_text
from portal.base.ui.value_words import join_values
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.domain.places.queries import directions_by_door, use_categories
from portal.domain.rights import words
from portal.domain.sync.freshness import Freshness, describe_outdated, freshness_of
from portal.reports.content import (
    MEMBER_COLUMNS,
    ReportContent,
    ReportTable,
    TableLine,
    area_of,
    completeness,
    figure_of,
    is_complete,
    lines_of_table,
    name_guests,
    number_of,
    period_text,
    query_log,
)
from portal.reports.models import Report
from tenants.scope import current_tenant_id

_BATCH_SIZE = 1000
# Who used a door in the period.
_ENTRIES_SQL = """
SELECT member_id, max(member_name), count(*), min(at), max(at) FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND at < %(until)s AND category = ANY(%(used)s) AND member_id <> ''
   AND NOT notified AND (%(doors)s::text[] IS NULL OR device_id = ANY(%(doors)s::text[]))
 GROUP BY member_id ORDER BY count(*) DESC, member_id
"""
# Temporary tables of a report: who used which door, who used which area, and who has a right to which area.
_TABLES_SQL = (
    """
CREATE TEMP TABLE report_passed ON COMMIT DROP AS
SELECT member_id, device_id, max(at) AS last_at FROM {history}
 WHERE tenant_id = %(tenant)s AND at >= %(since)s AND at < %(until)s AND category = ANY(%(used)s)
   AND member_id <> '' AND NOT notified
 GROUP BY member_id, device_id
""",
    """
CREATE TEMP TABLE report_used ON COMMIT DROP AS
SELECT DISTINCT d.area_id, p.member_id
  FROM report_passed p JOIN unnest(%(areas)s::text[], %(doors)s::text[]) AS d (area_id, device_id) USING (device_id)
""",
    """
CREATE TEMP TABLE report_held ON COMMIT DROP AS
SELECT DISTINCT g.area_id, m.member_id, m.id
  FROM {grants} g JOIN {members} m ON m.id = g.member_id JOIN {passes} p ON p.id = g.held_id
 WHERE g.tenant_id = %(tenant)s AND p.kind = ANY(%(may)s::text[]) AND m.gone_at IS NULL
   AND g.area_id = ANY(%(known)s::text[])
""",
    "ANALYZE report_passed, report_used, report_held",
)
# For each area: how many members have a right to it, and how many of them (or of those with all areas) used it.
_COUNTS_SQL = """
SELECT area_id, count(*), 0 FROM report_held GROUP BY area_id
 UNION ALL
SELECT u.area_id, 0, count(DISTINCT u.member_id)
  FROM report_used u JOIN report_held h ON h.member_id = u.member_id AND h.area_id IN (u.area_id, %(everywhere)s)
 GROUP BY u.area_id
"""
# Members with the areas they did not use. A right to all areas is unused if no area was used.
_UNUSED_SQL = """
SELECT m.member_name, m.member_code, m.membergroup_name, n.areas
  FROM (SELECT h.id, array_agg(h.area_id) AS areas FROM report_held h
         WHERE NOT EXISTS (SELECT FROM report_used u
                            WHERE u.member_id = h.member_id AND h.area_id IN (u.area_id, %(everywhere)s))
         GROUP BY h.id) n
  JOIN {members} m ON m.id = n.id
 ORDER BY m.name_key, m.id
"""
# Members with a credential who opened no door in the period, and their last use before it.
_IDLE_SQL = """
SELECT m.member_name, m.member_code, m.membergroup_name, m.has_card, m.has_qr, m.has_face,
       (SELECT max(h.at) FROM {history} h
         WHERE h.tenant_id = %(tenant)s AND h.member_id = m.member_id AND h.category = ANY(%(used)s)
           AND h.at < %(since)s AND NOT h.notified AND m.last_seen_at IS NOT NULL)
  FROM {members} m
 WHERE m.tenant_id = %(tenant)s AND m.gone_at IS NULL AND (m.has_card OR m.has_qr OR m.has_face)
   AND NOT EXISTS (SELECT FROM report_passed p WHERE p.member_id = m.member_id)
 ORDER BY m.name_key, m.id
"""
# The most area names in one line; the others are counted.
_MAX_NAMED = 8


def _loaded(fresh: Freshness) -> LoadedRights:
    members = Member.objects.filter(gone_at__isnull=True)
    known, listed = members.filter(rights_read_at__isnull=False).count(), fresh[MirrorKind.MEMBERS].as_of is not None
    return LoadedRights(known=known, total=members.count(), is_list_loaded=listed)


def _holders(area: Area) -> QuerySet[Grant]:
    rows = Grant.objects.filter(area_id__in=[area.area_id, EVERYWHERE], member__gone_at__isnull=True)
    rows = rows.exclude(held__kind=Pass.Kind.NEVER).select_related("member", "held")
    read = [f"member__{name}" for name in (*MEMBER_COLUMNS, "rights_read_at")]
    return rows.only("area_id", "held", *read).order_by("member__name_key", "member_id", "area_id", "pk")


def access_by_area(report: Report) -> ReportContent:
    """Return all members with a right to the area, and when it is valid."""
    area, fresh = area_of(report), freshness_of(report.tenant)
    loaded = _loaded(fresh)
    roll = access_counts.count_area(area.area_id).count if area else access_counts.AccessCount()
    columns = [pgettext("person", "Name"), _("Member code"), _("Group"), pgettext("rights", "When"), _("Read at")]
    gone = [] if area else [_("This area has been deleted.")]
    return ReportContent(
        title=_("Access by area"),
        about=report.choices.get("area_name", ""),
        period=_("As of %(at)s") % {"at": moment_text(report.until)},
        sheets=[ReportTable(_("Members"), columns)],
        lines=lines_of_table(_rights(area) if area else ()),
        figures=[figure_of(_("Members"), roll.with_access, is_at_least=loaded.is_partial or roll.unknown > 0)],
        complete=[*gone, *_completeness_of_rights(fresh, loaded)],
        is_partial=loaded.is_partial or roll.unknown > 0 or area is None,
    )


def _rights(area: Area) -> Iterator[Sequence[CellValue]]:
    for grant in _holders(area).iterator(chunk_size=_BATCH_SIZE):
        member = grant.member
        when = _("Every area") if grant.area_id == EVERYWHERE else words.pass_text(grant.held.body)
        who = [member.member_name, member.member_code, member.membergroup_name]
        yield [*who, when, local_or_none(member.rights_read_at)]


def unused_access(report: Report) -> ReportContent:
    """Return members whose credentials opened nothing in the period, and rights to areas that were not used."""
    fresh, at_most = freshness_of(report.tenant), not is_complete(report.since, report.until)
    loaded = _loaded(fresh)
    person = [pgettext("person", "Name"), _("Member code"), _("Group")]
    content = ReportContent(
        title=_("Unused credentials and rights"),
        about="",
        period=period_text(report.since, report.until),
        sheets=[
            ReportTable(_("Unused credentials"), [*person, _("Credentials"), _("Last used")]),
            ReportTable(_("Use by area"), [_("Area"), *_use_columns()], numbers=[1, 2, 3]),
            ReportTable(_("Unused access rights"), [*person, _("Areas")]),
        ],
        lines=(),
        complete=[*completeness(report), *_completeness_of_rights(fresh, loaded)]
        + ([_("Periods missing from the log are not counted.")] if at_most else []),
        is_partial=at_most or loaded.is_partial,
    )
    content.lines = _unused_lines(report, content, at_most=at_most, of_loaded=loaded.is_partial)
    return content


def _use_columns() -> list[str]:
    return [pgettext("report", "Has access"), pgettext("report", "Used"), pgettext("report", "Not used")]


def _unused_lines(report: Report, content: ReportContent, *, at_most: bool, of_loaded: bool) -> Iterator[TableLine]:
    """Yield the lines of the three tables and add the figures.

    Gaps in the log may hide uses, so these numbers may be too high (`at_most`). Rights that are not loaded are missing
    (`of_loaded`).
    """
    areas = list(Area.objects.order_by("pk"))
    values = _values(report, areas)
    idle = unused_rights = 0
    with transaction.atomic():  # temporary tables and cursors exist only in this transaction
        with connection.cursor() as cursor:
            for statement in _TABLES_SQL:
                cursor.execute(_with_tables(statement), values)
        for row in _rows(_IDLE_SQL, values):
            idle += 1
            yield 0, _member(row)
        for area, holders, users in _by_area(areas, values):
            unused_rights += holders - users
            holder_count, user_count = (
                number_of(holders, is_at_least=of_loaded),
                number_of(users, is_at_least=at_most or of_loaded),
            )
            yield (
                1,
                [area, holder_count, user_count, number_of(holders - users, is_at_least=of_loaded, is_at_most=at_most)],
            )
        names = {area.area_id: area.area_name for area in areas} | {EVERYWHERE: _("Every area")}
        for name, code, group, ids in _rows(_UNUSED_SQL, values):
            yield 2, [name, code, group, _short_list(sorted(names[each] for each in ids))]
    rights = _("Unused access rights")
    content.figures += [
        figure_of(_("Members with unused credentials"), idle, is_at_most=at_most),
        figure_of(rights, unused_rights, is_at_least=of_loaded, is_at_most=at_most),
    ]


def _completeness_of_rights(fresh: Freshness, loaded: LoadedRights) -> list[str]:
    """Return what is missing of members, areas and rights, or a sentence that nothing is missing."""
    late = describe_outdated(fresh, MirrorKind.MEMBERS, MirrorKind.AREAS)
    if not loaded.is_list_loaded:
        return late
    return [*late, loaded.summary() or _("Rights of all members loaded.")]


def _member(row: Sequence[Any]) -> Sequence[CellValue]:
    name, code, group, *has, last = row
    credentials = join_values(
        word for is_there, word in zip(has, (_("Card"), _("QR code"), _("Face")), strict=True) if is_there
    )
    return [name, code, group, credentials, local(last).date() if last else _("Not in the log")]


def _by_area(areas: Sequence[Area], values: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield (area name, members with a right, members who used it) for each area."""
    holder_counts: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for area_id, holders, users in _rows(_COUNTS_SQL, values):
        holder_counts[area_id] += holders
        used[area_id] += users
    for area in areas:
        yield area.area_name, holder_counts[area.area_id] + holder_counts[EVERYWHERE], used[area.area_id]


def _short_list(names: Sequence[str]) -> str:
    more = [_("%(n)s more") % {"n": len(names) - _MAX_NAMED}] if len(names) > _MAX_NAMED else []
    return join_values([*names[:_MAX_NAMED], *more])


def _rows(statement: str, values: dict[str, Any]) -> Iterator[Sequence[Any]]:
    """Yield the rows of a statement. The database sends 1,000 at a time."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(_with_tables(statement), values)
        while some := cursor.fetchmany(_BATCH_SIZE):
            yield from some


def _with_tables(statement: str) -> str:
    tables = {"history": History, "grants": Grant, "members": Member, "passes": Pass}
    return statement.format(**{name: model._meta.db_table for name, model in tables.items()})


def _values(report: Report, areas: Sequence[Area]) -> dict[str, Any]:
    doors = [(lead.area_id, device_id) for device_id, found in directions_by_door(areas).items() for lead in found]
    return {
        "tenant": current_tenant_id(), "since": report.since, "until": report.until, "used": use_categories(),
        "may": [Pass.Kind.ALWAYS, Pass.Kind.SCHEDULE], "everywhere": EVERYWHERE,
        "known": [EVERYWHERE, *(area.area_id for area in areas)],
        "areas": [area_id for area_id, _device_id in doors], "doors": [device_id for _area_id, device_id in doors],
    }  # fmt: skip


def doors_into(area: Area) -> list[str]:
    return [
        device_id for device_id, found in directions_by_door([area]).items() if any(lead.is_inward for lead in found)
    ]


def who_entered(report: Report) -> ReportContent:
    """Return who used a door (or a door into the area), the most frequent first. Empty if the area no longer exists."""
    area, at_least = area_of(report), not is_complete(report.since, report.until)
    chosen = bool(report.choices.get("area"))
    doors = (doors_into(area) if area else []) if chosen else None
    rows = query_log(_ENTRIES_SQL, report.since, report.until, doors=doors)
    person = [pgettext("person", "Name"), _("Member code"), _("Group")]
    columns = [*person, pgettext("log", "Entries"), _("First entry"), _("Last entry")]
    note = _("Based on events at doors into this area") if chosen else _("Based on events at all doors")
    gone = [_("This area has been deleted.")] if chosen and area is None else []
    content = ReportContent(
        title=_("Who entered"),
        about=report.choices.get("area_name", "") or _("All doors"),
        period=period_text(report.since, report.until),
        sheets=[ReportTable(pgettext("report", "By person"), columns, note, numbers=[3])],
        lines=(),
        figures=[
            figure_of(pgettext("report", "People"), len(rows), is_at_least=at_least),
            figure_of(pgettext("log", "Entries"), sum(row[2] for row in rows), is_at_least=at_least),
        ],
        complete=[*gone, *completeness(report)],
        is_partial=at_least or bool(gone),
    )
    content.lines = lines_of_table(_people(rows, content))
    return content


def _people(rows: Sequence[Any], content: ReportContent) -> Iterator[Sequence[CellValue]]:
    for at in range(0, len(rows), _BATCH_SIZE):
        some = rows[at : at + _BATCH_SIZE]
        ids = [row[0] for row in some]
        members = {each.member_id: each for each in Member.objects.filter(member_id__in=ids).only(*MEMBER_COLUMNS)}
        guests = name_guests([each for each in ids if each not in members], content)
        for member_id, name, count, first, last in some:
            member = members.get(member_id)
            known = (member.member_name, member.member_code, member.membergroup_name) if member else (name, "", "")
            if member_id in guests:
                known = (guests[member_id], "", _("Guest"))
            yield [*known, count, local(first), local(last)]
