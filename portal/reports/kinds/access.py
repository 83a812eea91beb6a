"""Reports of rights: who may enter an area, and which credentials and rights nobody uses."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.areas import rolls
from portal.areas.loading import Loaded
from portal.areas.models import EVERYWHERE, Grant, Pass
from portal.core.mirror.models import Area, History, Member
from portal.core.mirror.places import USED, leads
from portal.core.rights import words
from portal.core.ui.times import local
from portal.reports import periods
from portal.reports.content import Cell, Content, Sheet, of_sheet
from portal.reports.kinds.passages import area_of, completeness, figure, is_whole
from portal.reports.models import Report
from portal.reports.periods import stamped
from tenants.scope import current_tenant_id

_AT_ONCE = 1000
_FOUND = """
WITH used AS MATERIALIZED (
    SELECT DISTINCT d.area_id, p.member_id
      FROM (SELECT DISTINCT h.member_id, h.device_id FROM {history} h
             WHERE h.tenant_id = %(tenant)s AND h.at >= %(since)s AND h.at < %(until)s AND h.category = %(used)s
               AND h.member_id <> '' AND NOT h.notified) p
      JOIN unnest(%(areas)s::text[], %(doors)s::text[]) AS d (area_id, device_id) ON d.device_id = p.device_id
), held AS MATERIALIZED (
    SELECT DISTINCT g.area_id, m.member_id, m.id
      FROM {grants} g JOIN {members} m ON m.id = g.member_id JOIN {passes} p ON p.id = g.held_id
     WHERE g.tenant_id = %(tenant)s AND p.kind = ANY(%(may)s::text[]) AND m.gone_at IS NULL
       AND g.area_id = ANY(%(known)s::text[])
)
"""
# Of each area, how many hold a right to it; then how many of them, or of those with a right to all areas, used it.
_COUNTED = """
SELECT area_id, count(*), 0 FROM held GROUP BY area_id
 UNION ALL
SELECT u.area_id, 0, count(DISTINCT u.member_id)
  FROM used u JOIN held h ON h.member_id = u.member_id AND h.area_id IN (u.area_id, %(everywhere)s) GROUP BY u.area_id
"""
# Members and the areas that they did not use; a right to all areas was not used where no area was.
_UNUSED = """
SELECT m.member_name, m.member_code, m.membergroup_name, n.areas
  FROM (SELECT h.id, array_agg(h.area_id) AS areas FROM held h
         WHERE NOT EXISTS (SELECT FROM used u
                            WHERE u.member_id = h.member_id AND h.area_id IN (u.area_id, %(everywhere)s))
         GROUP BY h.id) n
  JOIN {members} m ON m.id = n.id
 ORDER BY m.name_key, m.id
"""
#: Names of areas in one line; the rest is counted.
_NAMED = 8


def _loaded() -> Loaded:
    members = Member.objects.filter(gone_at__isnull=True)
    return Loaded(known=members.filter(rights_read_at__isnull=False).count(), everybody=members.count())


def _holders(area: Area) -> QuerySet[Grant]:
    rows = Grant.objects.filter(area_id__in=[area.area_id, EVERYWHERE], member__gone_at__isnull=True)
    rows = rows.exclude(held__kind=Pass.Kind.NEVER).select_related("member", "held")
    return rows.order_by("member__name_key", "member_id", "area_id", "pk")


def may_enter(report: Report) -> Content:
    """Return everybody with a right to the area, and when it holds."""
    area, loaded = area_of(report), _loaded()
    roll = rolls.of_area(area.area_id).roll if area else rolls.Roll()
    columns = [pgettext("person", "Name"), _("Member code"), _("Group"), _("When"), _("Read at")]
    gone = [] if area else [_("This area is no longer there.")]
    return Content(
        title=_("Who may enter"),
        about=report.choices.get("area_name", ""),
        period=_("As of %(at)s") % {"at": stamped(report.until)},
        sheets=[Sheet(_("People"), columns)],
        lines=of_sheet(0, _rights(area) if area else ()),
        figures=[figure(_("People"), roll.may_enter, at_least=bool(loaded.missing or roll.unknown))],
        complete=[*gone, _of_rights(loaded)],
    )


def _rights(area: Area) -> Iterator[Sequence[Cell]]:
    for grant in _holders(area).iterator(chunk_size=_AT_ONCE):
        member = grant.member
        when = _("Every area") if grant.area_id == EVERYWHERE else words.when(grant.held.body)
        who = [member.member_name, member.member_code, member.membergroup_name]
        yield [*who, when, stamped(member.rights_read_at)]


def unused(report: Report) -> Content:
    """Return members whose credentials opened nothing in the period, and rights to areas that were not used."""
    idle, loaded, areas = _idle(report), _loaded(), list(Area.objects.order_by("pk"))
    counts = _by_area(report, areas)
    at_least = bool(loaded.missing)
    person = [pgettext("person", "Name"), _("Member code"), _("Group")]
    return Content(
        title=_("Unused credentials and rights"),
        about="",
        period=periods.words(report.since, report.until),
        sheets=[
            Sheet(_("Credentials that opened nothing"), [*person, _("Credentials"), _("Last used")]),
            Sheet(_("Rights by area"), [_("Area"), _("May enter"), _("Used it"), _("Did not use it")]),
            Sheet(_("Rights that were not used"), [*person, _("Areas")]),
        ],
        lines=chain(
            of_sheet(0, (_member(member) for member in idle.iterator(chunk_size=_AT_ONCE))),
            of_sheet(1, counts),
            of_sheet(2, _unused_rights(report, areas)),
        ),
        figures=[
            figure(_("Members with unused credentials"), idle.count()),
            figure(_("Rights that were not used"), sum(int(row[3]) for row in counts), at_least=at_least),
        ],
        complete=[*completeness(report), _of_rights(loaded)]
        + ([] if is_whole(report.since, report.until) else [_("Use in the gaps of the log is not counted.")]),
    )


def _of_rights(loaded: Loaded) -> str:
    sentence = loaded.sentence()
    return f"{sentence}." if sentence else _("Rights of all members loaded.")


def _idle(report: Report) -> QuerySet[Member]:
    rows = Member.objects.filter(gone_at__isnull=True).filter(Q(has_card=True) | Q(has_qr=True) | Q(has_face=True))
    rows = rows.filter(Q(last_seen_at=None) | Q(last_seen_at__lt=report.since))
    return rows.defer("card_data", "qrcode", "extra", "rights").order_by("name_key", "pk")


def _member(member: Member) -> Sequence[Cell]:
    named = ((member.has_card, _("Card")), (member.has_qr, _("QR code")), (member.has_face, _("Face")))
    held = ", ".join(name for has, name in named if has)
    seen = local(member.last_seen_at).date().isoformat() if member.last_seen_at else _("Not in the log")
    return [member.member_name, member.member_code, member.membergroup_name, held, seen]


def _by_area(report: Report, areas: Sequence[Area]) -> list[Sequence[Cell]]:
    held: Counter[str] = Counter()
    used: Counter[str] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(_stated(_COUNTED), _values(report, areas))
        for area_id, holders, users in cursor.fetchall():
            held[area_id] += holders
            used[area_id] += users
    told = [(area, held[area.area_id] + held[EVERYWHERE], used[area.area_id]) for area in areas]
    return [[area.area_name, holders, users, holders - users] for area, holders, users in told]


def _unused_rights(report: Report, areas: Sequence[Area]) -> Iterator[Sequence[Cell]]:
    names = {area.area_id: area.area_name for area in areas} | {EVERYWHERE: _("Every area")}
    # A server-side cursor lives in a transaction.
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(_stated(_UNUSED), _values(report, areas))
        while rows := cursor.fetchmany(_AT_ONCE):
            for name, code, group, ids in rows:
                named = sorted(names[each] for each in ids)
                more = [_("%(n)s more") % {"n": len(named) - _NAMED}] if len(named) > _NAMED else []
                yield [name, code, group, ", ".join([*named[:_NAMED], *more])]


def _stated(statement: str) -> str:
    tables = {"history": History, "grants": Grant, "members": Member, "passes": Pass}
    return (_FOUND + statement).format(**{name: model._meta.db_table for name, model in tables.items()})


def _values(report: Report, areas: Sequence[Area]) -> dict[str, Any]:
    doors = [(lead.area_id, device_id) for device_id, found in leads(areas).items() for lead in found]
    return {
        "tenant": current_tenant_id(), "since": report.since, "until": report.until, "used": USED,
        "may": [Pass.Kind.ALWAYS, Pass.Kind.SCHEDULE], "everywhere": EVERYWHERE,
        "known": [EVERYWHERE, *(area.area_id for area in areas)],
        "areas": [area_id for area_id, _device_id in doors], "doors": [device_id for _area_id, device_id in doors],
    }  # fmt: skip
