"""Check the rows of a list of guests: each becomes an order for a code, or is refused. Nothing is sent."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError as Invalid
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi.limits import JST
from accessapi.resources.guests import GuestCreate
from portal.base.files import date_parsing
from portal.base.files.date_parsing import Order
from portal.base.files.reading import shown_text
from portal.base.ui import inputs
from portal.domain.jobs.models import Action, Job, NewRow
from portal.domain.people import guest_fields
from portal.domain.people import queries as mirror
from portal.domain.people.fields import SheetColumn, find_faults
from portal.domain.people.guest_fields import AREAS, EMAIL, END, GRACE, GUEST_NAME, KEYS, REMARKS, START
from portal.domain.people.text_folding import fold, stored_forms
from portal.domain.visits import queries as visit_queries
from portal.domain.visits.models import Preset, Stage, Visit
from portal.guests import hours
from portal.guests.issuing import CodeOrder
from portal.guests.places import Host
from portal.imports.row_reading import Problem, SheetRow
from portal.imports.sheet_kinds import SheetKind

FIELDS = (
    SheetColumn(
        ("Name", "氏名"),
        "guest, guest name, full name, visitor, visitor name, 名前, お名前, ゲスト, ゲスト名, 来訪者, 来訪者名, "
        "来客名, 訪問者, 訪問者名",
        ("Aiko Tanaka", "田中 愛子"), "name", guest_fields.GUEST_NAME.label,
    ),
    SheetColumn(
        ("E-mail", "メール"), "mail, e-mail address, mail address, メールアドレス, Eメール",
        ("aiko@example.com", "aiko@example.com"), "email", guest_fields.EMAIL.label, kind="email",
    ),
    SheetColumn(
        ("Company", "会社"), "organisation, organization, company name, 会社名, 所属, 企業名, 団体名",
        ("Mirai Ltd.", "株式会社みらい"), "company", _("Company"),
    ),
    SheetColumn(("Date", "日付"), "day, visit date, 来訪日, 訪問日, 来社日", ("", ""), "date", _("Date"), kind="day"),
    SheetColumn(
        ("Start", "開始"),
        "from, begin, start time, arrival, 開始日時, 開始時刻, 来訪日時, 訪問日時, 来訪時刻, 利用開始, 利用開始日時",
        ("2026-12-01 13:00", "2026-12-01 13:00"), "start", _("Start"), kind="clock",
    ),
    SheetColumn(
        ("End", "終了"), "until, to, end time, 終了日時, 終了時刻, 退館予定, 利用終了, 利用終了日時",
        ("15:00", "15:00"), "end", _("End"), kind="clock",
    ),
    SheetColumn(
        ("Host", "訪問先"), "visits, host name, contact, ホスト, 担当者, 訪問先担当者, 面会者, 受入担当者",
        ("Ichiro Suzuki", "鈴木 一郎"), "host", _("Host"),
    ),
    SheetColumn(("Preset", "プリセット"), "template, type, 種別, テンプレート, 区分", ("", ""), "preset", _("Preset")),
    SheetColumn(
        ("Remarks", "備考"), "remark, note, notes, comment, メモ, 連絡事項", ("", ""), "remarks",
        guest_fields.REMARKS.label, kind="lines",
    ),
)  # fmt: skip
COMPANY_MAX = HOST_MAX = 100
# The column at which a validation error of the service's model is shown.
_COLUMN_OF_FIELD = {GUEST_NAME.name: "name", START.name: "start", END.name: "end", GRACE.name: "preset",
             AREAS.name: "preset", KEYS.name: "preset", EMAIL.name: "email", REMARKS.name: "remarks"}  # fmt: skip


def missing_text(columns: Collection[str], _default_group: str) -> str:
    """Return which required column is missing; "" if none."""
    if not {"name", "family_name", "given_name"} & set(columns):
        return _t("Choose a column for the name.")
    if not {"start", "date"} & set(columns):
        return _t("Choose a column for the start or the date.")
    return ""


@dataclass(frozen=True)
class Lookups:
    """The presets and members that rows may name, looked up once for the whole file."""

    presets: Mapping[str, Preset]
    default: Preset | None
    members: Mapping[str, list[tuple[str, str]]]  # folded name -> (name, member_id)
    now: datetime
    mail: bool

    @classmethod
    def of(cls, texts: Iterable[str], *, mail: bool) -> "Lookups":
        """Load the presets, and the members named in `texts`, which are the hosts of all rows."""
        presets = visit_queries.presets()
        named = {fold(name): preset for preset in reversed(presets) for name in (preset.name_ja, preset.name) if name}
        members: dict[str, list[tuple[str, str]]] = {}
        forms = {form for text in set(texts) if text.strip() for form in stored_forms(text)}
        rows = mirror.members().filter(name_key__in=forms)
        for name, member_id in rows.values_list("member_name", "member_id"):
            members.setdefault(fold(name), []).append((name, member_id))
        return cls(named, visit_queries.default_preset(presets), members, hours.now(), mail)

    def host(self, text: str) -> Host:
        """Return the only member of this name, otherwise the name without a member."""
        found = self.members.get(fold(text), []) if text else []
        return Host(found[0][0], found[0][1]) if len(found) == 1 else Host(text)


class GuestChecker:
    """The check of one list's rows (`sheet_kinds.RowChecker`)."""

    def __init__(self, job: Job) -> None:
        self._mail = bool(job.options.get("mail"))
        self._order = job.sheet.options.get("date_order")
        self._earlier: dict[str, list[tuple[int, CodeOrder]]] = {}
        self._last_end: datetime | None = None
        self._size = 0

    def check(self, rows: Sequence[SheetRow]) -> list[NewRow]:
        known = Lookups.of((row.texts.get("host", "") for row in rows), mail=self._mail)
        orders = {row.line: parse_row(row, known, self._order) for row in rows}
        visits = _active_visits(order for row in rows if not row.problems and (order := orders[row.line]))
        self._size += len(rows)
        return [self._new_row(row, orders[row.line], visits) for row in rows]

    def take_late_problems(self) -> list[tuple[int, Problem]]:
        """Return nothing: of two equal guests, only the later one is a possible duplicate."""
        return []

    def finish(self) -> dict[str, Any]:
        return {"last_end": self._last_end, "size": self._size}

    def _new_row(self, row: SheetRow, order: CodeOrder, visits_by_name: dict[str, list[Visit]]) -> NewRow:
        name = next(filter(None, (row.texts.get("name", ""), *map(shown_text, row.cells))), "")
        if row.problems:
            content: dict[str, Any] = {"name": name, "order": None, "quoted": row.quoted}
            return NewRow(row.line, Action.REFUSED, "", content, row.problems)
        visits, problems = self._duplicates(row, order, visits_by_name)
        self._last_end = max(filter(None, (self._last_end, order.end)))
        content = {"order": order_to_json(order), "marks": [visit.pk for visit in visits], "cleaned": row.cleaned}
        return NewRow(row.line, Action.DOUBLE if problems else Action.CREATE, "", content, problems, row.notes)

    def _duplicates(
        self, row: SheetRow, order: CodeOrder, visits_by_name: dict[str, list[Visit]]
    ) -> tuple[list[Visit], list[Problem]]:
        """Return the visits that the row probably duplicates, and its problems, also with earlier rows."""
        key = order.hours.name_key
        visits = [
            visit for visit in visits_by_name.get(key, []) if _overlaps(order, visit.use_date_start, visit.use_date_end)
        ]
        earlier = [line for line, other in self._earlier.get(key, []) if _overlaps(order, other.start, other.end)]
        self._earlier.setdefault(key, []).append((row.line, order))
        problems: list[Problem] = []
        if visits:
            problems.append(("name", "double_guest", {"until": visits[0].use_date_end.isoformat()}))
        if earlier:
            problems.append(("name", "double_line", {"line": earlier[0]}))
        return visits, problems


def parse_row(row: SheetRow, known: Lookups, date_order: Order | None) -> CodeOrder:
    """Return the order of a row, and report all its problems at once: with problems, the order must not be used."""
    texts = row.texts
    for name, most in (("company", COMPANY_MAX), ("host", HOST_MAX)):
        if len(texts.get(name, "")) > most:
            row.refuse(name, "string_too_long", max_length=most)
    if "name" not in texts or not _is_valid(inputs.validate_visible, texts["name"]):
        row.refuse("name", "missing")
    preset = _preset(row, known)
    start = _start(row, date_order)
    end = _end(row, start, preset, date_order) if start else None
    if start and end:
        _check_hours(row, start, end, known.now)
    # Without hours, the rest is still checked, so that all problems can be corrected at once.
    begin = start or known.now
    order = _order(texts, begin, end or begin + timedelta(hours=1), preset, known)
    _check_limits(row, order)
    if texts.get("remarks") and not order.mail:
        row.notes.append(("remarks", "unsent_remarks", {}))
    return order


def _preset(row: SheetRow, known: Lookups) -> Preset | None:
    if "preset" not in row.texts:
        return known.default
    found = known.presets.get(fold(row.texts["preset"]))
    if found is None:
        row.refuse("preset", "no_such_preset")
    return found


def _start(row: SheetRow, date_order: Order | None) -> datetime | None:
    text, day = row.texts.get("start", ""), _day(row.texts.get("date", ""), date_order)
    if "date" in row.texts and day is None:
        row.refuse("date", "date")
        return None
    if not text and day is None:
        row.refuse("start", "missing")
        return None
    clock = date_parsing.parse_clock(text) if text else timedelta()
    if day is not None and clock is not None:
        return day + clock
    found = date_parsing.parse_typed_moment(text, order=date_order, today=hours.now().date())
    if found is None:
        row.refuse("start", "moment" if clock is None else "time_alone")
    return found


def _day(text: str, date_order: Order | None) -> datetime | None:
    day = date_parsing.parse_day(text, order=date_order, today=hours.now().date())
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=JST)


def _end(row: SheetRow, start: datetime, preset: Preset | None, date_order: Order | None) -> datetime | None:
    text = row.texts.get("end", "")
    if not text:
        return hours.end_of(preset, start)
    clock = date_parsing.parse_clock(text)
    if clock is not None:
        end = date_parsing.end_of_clock(start, clock)
        if end.date() != start.astimezone(JST).date():
            row.notes.append(("end", "next_day", {}))
        return end
    found = date_parsing.parse_typed_moment(text, end=True, order=date_order, today=start.date())
    if found is None:
        row.refuse("end", "moment")
    return found


def _check_hours(row: SheetRow, start: datetime, end: datetime, now: datetime) -> None:
    if end <= start:
        row.refuse("end", "ends_before")
    elif end <= now:
        row.refuse("end", "over")


def _order(
    texts: Mapping[str, str], start: datetime, end: datetime, preset: Preset | None, known: Lookups
) -> CodeOrder:
    email = texts.get("email", "")
    mail = known.mail and bool(email)
    remarks = texts.get("remarks") or (preset and (preset.remarks_ja or preset.remarks_en)) or ""
    return CodeOrder(
        name=texts.get("name", ""),
        start=start,
        end=end,
        area_ids=list(preset.area_ids) if preset else [],
        keys=list(preset.keys) if preset else [],
        grace_minutes=preset.grace_minutes if preset else 0,
        email=email,
        mail=mail,
        remarks=remarks if mail else "",
        company=texts.get("company", ""),
        host=known.host(texts.get("host", "")),
        preset=preset,
    )


def _check_limits(row: SheetRow, order: CodeOrder) -> None:
    """Add the problems from the service's own limits."""
    if order.email and not inputs.is_address(order.email):
        row.refuse("email", "email")
    named = {name for name, _code, _values in row.problems}
    for path, fault, values in find_faults(GuestCreate, order.body()):
        column = next((_COLUMN_OF_FIELD[name] for name in reversed(path) if name in _COLUMN_OF_FIELD), "")
        if column and column not in named:
            row.refuse(column, fault, **values)
            named.add(column)


def _is_valid(check: Callable[[str], None], text: str) -> bool:
    try:
        check(text)
    except Invalid:
        return False
    return True


def order_to_json(order: CodeOrder) -> dict[str, Any]:
    """Return an order as JSON for a row, without the code."""
    return {
        "name": order.name,
        "start": order.start.isoformat(),
        "end": order.end.isoformat(),
        "area_ids": list(order.area_ids),
        "keys": order.keys,
        "grace_minutes": order.grace_minutes,
        "email": order.email,
        "mail": order.mail,
        "remarks": order.remarks,
        "company": order.company,
        "host": [order.host.name, order.host.member_id],
        "preset": order.preset.pk if order.preset else None,
    }


def order_from_json(content: Mapping[str, Any]) -> CodeOrder:
    """Return the order of a row as the dry run showed it."""
    plain = {name: content[name] for name in ("name", "area_ids", "keys", "grace_minutes", "email", "mail", "remarks",
                                           "company")}  # fmt: skip
    return CodeOrder(
        **plain,
        start=datetime.fromisoformat(content["start"]),
        end=datetime.fromisoformat(content["end"]),
        host=Host(*content["host"]),
        preset=Preset.objects.filter(pk=content["preset"]).first(),
    )


def _overlaps(order: CodeOrder, start: Any, end: Any) -> bool:
    return bool(order.start < end and start < order.end)


def _active_visits(orders: Iterable[CodeOrder]) -> dict[str, list[Visit]]:
    """Return visits of these names that have, or may have, a code that has not ended."""
    forms = {form for order in orders for form in stored_forms(order.name)}
    rows = Visit.objects.filter(name_key__in=forms, use_date_end__gt=timezone.now(), gone_at=None)
    found: dict[str, list[Visit]] = {}
    columns = ("pk", "tenant_id", "guest_name", "use_date_start", "use_date_end")
    for visit in rows.exclude(stage=Stage.NOT_ISSUED).only(*columns):
        found.setdefault(fold(visit.guest_name), []).append(visit)
    return found


# Each row costs one of the hour's 720 calls, and doors and people need a share of them.
GUESTS = SheetKind(
    own_columns=FIELDS,
    name_column="name",
    checker=GuestChecker,
    missing_text=missing_text,
    purpose="guests.expected",
    most_rows=500,
    most_bytes=2 * 1024 * 1024,
)
