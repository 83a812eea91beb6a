"""Check a list of guests: each row becomes an order for a code or has problems. Nothing is sent."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError as Invalid
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import validate_email
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accessapi.limits import JST
from accessapi.resources.guests import GuestCreate
from portal.base.files import file_limits, reading
from portal.base.files.date_parsing import parse_day, parse_time, parse_typed_moment
from portal.base.files.file_limits import FileFault
from portal.base.files.writing import is_reason_heading
from portal.base.files.xlsx_reading import LOST_DIGITS
from portal.base.ui import inputs
from portal.domain.jobs.models import Action
from portal.domain.people import guest_fields
from portal.domain.people import queries as mirror
from portal.domain.people.fields import SheetColumn, columns_by_heading, find_faults, heading_key
from portal.domain.people.guest_fields import AREAS, EMAIL, END, GRACE, GUEST_NAME, KEYS, REMARKS, START
from portal.domain.people.text_folding import fold
from portal.domain.visits import queries as visit_queries
from portal.domain.visits.models import Preset, Stage, Visit
from portal.guests import hours
from portal.guests.issuing import CodeOrder
from portal.guests.places import Host

FIELDS = (
    SheetColumn(
        ("Name", "氏名"),
        "guest, guest name, full name, visitor, visitor name, 名前, お名前, ゲスト, ゲスト名, 来訪者, 来訪者名, "
        "来客名, 訪問者, 訪問者名",
        ("Aiko Tanaka", "田中 愛子"), "name", guest_fields.GUEST_NAME.label,
    ),
    SheetColumn(
        ("E-mail", "メール"), "mail, e-mail address, mail address, メールアドレス, Eメール",
        ("aiko@example.com", "aiko@example.com"), "email", guest_fields.EMAIL.label,
    ),
    SheetColumn(
        ("Company", "会社"), "organisation, organization, company name, 会社名, 所属, 企業名, 団体名",
        ("Mirai Ltd.", "株式会社みらい"), "company", _("Company"),
    ),
    SheetColumn(("Date", "日付"), "day, visit date, 来訪日, 訪問日, 来社日", ("", ""), "date", _("Date")),
    SheetColumn(
        ("Start", "開始"),
        "from, begin, start time, arrival, 開始日時, 開始時刻, 来訪日時, 訪問日時, 来訪時刻, 利用開始, 利用開始日時",
        ("2026-12-01 13:00", "2026-12-01 13:00"), "start", _("Start"),
    ),
    SheetColumn(
        ("End", "終了"), "until, to, end time, 終了日時, 終了時刻, 退館予定, 利用終了, 利用終了日時",
        ("15:00", "15:00"), "end", _("End"),
    ),
    SheetColumn(
        ("Host", "訪問先"), "visits, host name, contact, ホスト, 担当者, 訪問先担当者, 面会者, 受入担当者",
        ("Ichiro Suzuki", "鈴木 一郎"), "host", _("Host"),
    ),
    SheetColumn(("Preset", "プリセット"), "template, type, 種別, テンプレート, 区分", ("", ""), "preset", _("Preset")),
    SheetColumn(
        ("Remarks", "備考"), "remark, note, notes, comment, メモ, 連絡事項", ("", ""), "remarks",
        guest_fields.REMARKS.label,
    ),
)  # fmt: skip
BY_NAME = {field.name: field for field in FIELDS}
_MEANINGS = columns_by_heading(FIELDS)


def column_places(headings: Sequence[str]) -> dict[str, int]:
    """Return the position of each field's column. If two columns have the same meaning, the first one counts."""
    found: dict[str, int] = {}
    for place, heading in enumerate(headings):
        meaning = "" if is_reason_heading(heading) else _MEANINGS.get(heading_key(heading), "")
        if meaning:
            found.setdefault(meaning, place)
    return found


def unknown_headings(headings: Sequence[str]) -> list[str]:
    """Return the headings of columns that are ignored."""
    taken = set(column_places(headings).values())
    return [
        name
        for place, name in enumerate(headings)
        if name.strip() and place not in taken and not is_reason_heading(name)
    ]


Problem = tuple[str, str, dict[str, Any]]  # field, word, facts
COMPANY_MAX = HOST_MAX = 100
# The column at which a validation error of the service's model is shown.
_COLUMN_OF_FIELD = {GUEST_NAME.name: "name", START.name: "start", END.name: "end", GRACE.name: "preset",
             AREAS.name: "preset", KEYS.name: "preset", EMAIL.name: "email", REMARKS.name: "remarks"}  # fmt: skip


@dataclass
class ParsedRow:
    """A line that was read, with an order if it has no problems. `notes` are hints that do not refuse the row."""

    line: int
    cells: list[str]
    order: CodeOrder | None = None
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)


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
        rows = mirror.members().filter(name_key__in={fold(text) for text in texts if text.strip()})
        for name, member_id, name_key in rows.values_list("member_name", "member_id", "name_key"):
            members.setdefault(name_key, []).append((name, member_id))
        return cls(named, visit_queries.default_preset(presets), members, hours.now(), mail)

    def host(self, text: str) -> Host:
        """Return the only member of this name, otherwise the name without a member."""
        found = self.members.get(fold(text), []) if text else []
        return Host(found[0][0], found[0][1]) if len(found) == 1 else Host(text)


def texts_of(cells: Sequence[str], places: Mapping[str, int]) -> dict[str, str]:
    """Return the cells by field, stripped; empty ones are left out."""
    found = {name: cells[place].strip() for name, place in places.items() if place < len(cells)}
    return {name: text for name, text in found.items() if text}


def parse_row(line: int, cells: Sequence[str], places: Mapping[str, int], known: Lookups) -> ParsedRow:
    """Parse one row and report all its problems at once."""
    row, texts = ParsedRow(line, list(cells)), texts_of(cells, places)
    for name, text in texts.items():
        if LOST_DIGITS in text:
            row.problems.append((name, "digits_lost", {}))
        elif not _is_valid(inputs.validate_multiline if name == "remarks" else inputs.validate_one_line, text):
            row.problems.append((name, "controls", {}))
    for name, most in (("company", COMPANY_MAX), ("host", HOST_MAX)):
        if len(texts.get(name, "")) > most:
            row.problems.append((name, "string_too_long", {"max_length": most}))
    if "name" not in texts or not _is_valid(inputs.validate_visible, texts["name"]):
        row.problems.append(("name", "missing", {}))
    preset = _preset(row, texts, known)
    start = _start(row, texts)
    end = _end(row, texts, start, preset) if start else None
    if start and end:
        _check_hours(row, start, end, known.now)
    # Without hours, the rest is still checked, so that all problems can be corrected at once.
    begin = start or known.now
    order = _order(texts, begin, end or begin + timedelta(hours=1), preset, known)
    _check_limits(row, order)
    if texts.get("remarks") and not order.mail:
        row.notes.append(("remarks", "unsent_remarks", {}))
    row.order = None if row.problems else order
    return row


def _preset(row: ParsedRow, texts: Mapping[str, str], known: Lookups) -> Preset | None:
    if "preset" not in texts:
        return known.default
    found = known.presets.get(fold(texts["preset"]))
    if found is None:
        row.problems.append(("preset", "no_such_preset", {}))
    return found


def _start(row: ParsedRow, texts: Mapping[str, str]) -> datetime | None:
    text, day = texts.get("start", ""), parse_day(texts.get("date", ""))
    if "date" in texts and day is None:
        row.problems.append(("date", "date", {}))
        return None
    if not text and day is None:
        row.problems.append(("start", "missing", {}))
        return None
    clock = parse_time(text) if text else None
    if day is not None and (clock is not None or not text):
        return datetime.combine(day, clock, JST) if clock else datetime(day.year, day.month, day.day, tzinfo=JST)
    found = parse_typed_moment(text)
    if found is None:
        row.problems.append(("start", "time_alone" if clock else "moment", {}))
    return found


def _end(row: ParsedRow, texts: Mapping[str, str], start: datetime, preset: Preset | None) -> datetime | None:
    text = texts.get("end", "")
    if not text:
        return hours.end_of(preset, start)
    clock = parse_time(text)
    found = datetime.combine(start.astimezone(JST).date(), clock, JST) if clock else parse_typed_moment(text, end=True)
    if found is None:
        row.problems.append(("end", "moment", {}))
    return found


def _check_hours(row: ParsedRow, start: datetime, end: datetime, now: datetime) -> None:
    if end <= start:
        row.problems.append(("end", "ends_before", {}))
    elif end <= now:
        row.problems.append(("end", "over", {}))


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


def _check_limits(row: ParsedRow, order: CodeOrder) -> None:
    """Add the problems from the service's own limits."""
    if order.email and not _is_valid(validate_email, order.email):
        row.problems.append(("email", "email", {}))
    named = {name for name, _word, _facts in row.problems}
    for path, fault, facts in find_faults(GuestCreate, order.body()):
        column = next((_COLUMN_OF_FIELD[name] for name in reversed(path) if name in _COLUMN_OF_FIELD), "")
        if column and column not in named:
            row.problems.append((column, fault, facts))
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


# Each row costs one of the hour's 720 calls, and doors and people need a share of them.
MOST_ROWS = 500
MOST_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True)
class CheckedRow:
    """The dry run's result for one row. `double_ids` are visits that it probably duplicates."""

    row: ParsedRow
    action: Action
    problems: list[Problem]
    double_ids: list[int]


@dataclass(frozen=True)
class GuestSheet:
    """A file that was read completely."""

    headings: list[str]
    lines: list[tuple[int, list[str]]]
    fingerprint: bytes


def read_sheet(upload: "UploadedFile[bytes]") -> GuestSheet:
    """Return the file's rows. Raises FileFault, also if there is no column of names; then nothing is saved."""
    if (upload.size or 0) > MOST_BYTES:
        raise FileFault("size", mb=MOST_BYTES // 2**20)
    shape = reading.inspect_file(lambda: upload.chunks(file_limits.CHUNK_BYTES))
    headings, rows = reading.open_rows(
        shape.kind, shape.encoding, shape.delimiter, lambda: upload.chunks(file_limits.CHUNK_BYTES)
    )
    if "name" not in column_places(headings):
        raise FileFault("no_names")
    lines: list[reading.Line] = []
    for each in rows:
        if len(lines) >= MOST_ROWS:
            raise FileFault("rows", most=MOST_ROWS)
        lines.append(each)
    return GuestSheet(headings, lines, reading.fingerprint_upload(upload, "guests.expected"))


def check_rows(found: GuestSheet, *, mail: bool) -> list[CheckedRow]:
    """Return every row with its expected result, in a few queries."""
    columns = column_places(found.headings)
    hosts = [texts_of(cells, columns).get("host", "") for _line, cells in found.lines]
    known = Lookups.of(hosts, mail=mail)
    rows = [parse_row(line, cells, columns, known) for line, cells in found.lines]
    visits_by_name = _active_visits(row.order for row in rows if row.order)
    earlier_rows: dict[str, list[tuple[int, CodeOrder]]] = {}
    return [_check_row(row, visits_by_name, earlier_rows) for row in rows]


def _check_row(
    row: ParsedRow, visits_by_name: dict[str, list[Visit]], earlier_rows: dict[str, list[tuple[int, CodeOrder]]]
) -> CheckedRow:
    order = row.order
    if order is None:
        return CheckedRow(row, Action.REFUSED, row.problems, [])
    name = order.hours.name_key
    visits = [
        visit for visit in visits_by_name.get(name, []) if _overlaps(order, visit.use_date_start, visit.use_date_end)
    ]
    earlier = next((line for line, other in earlier_rows.get(name, []) if _overlaps(order, other.start, other.end)), 0)
    earlier_rows.setdefault(name, []).append((row.line, order))
    problems: list[Problem] = (
        [("name", "double_guest", {"until": visits[0].use_date_end.isoformat()})] if visits else []
    )
    if earlier:
        problems.append(("name", "double_line", {"line": earlier}))
    action = Action.DOUBLE if problems else Action.CREATE
    return CheckedRow(row, action, problems, [visit.pk for visit in visits])


def _overlaps(order: CodeOrder, start: Any, end: Any) -> bool:
    return bool(order.start < end and start < order.end)


def _active_visits(orders: Iterable[CodeOrder]) -> dict[str, list[Visit]]:
    """Return visits of these names that have, or may have, a code that has not ended."""
    names = {order.hours.name_key for order in orders}
    rows = Visit.objects.filter(name_key__in=names, use_date_end__gt=timezone.now(), gone_at=None)
    found: dict[str, list[Visit]] = {}
    for visit in rows.exclude(stage=Stage.NOT_ISSUED).only("pk", "tenant_id", "name_key", "use_date_start",
                                                           "use_date_end"):  # fmt: skip
        found.setdefault(visit.name_key, []).append(visit)
    return found


def last_end(found: Sequence[CheckedRow]) -> Any:
    """Return the latest end of all rows that could become codes."""
    return max((each.row.order.end for each in found if each.row.order), default=None)
