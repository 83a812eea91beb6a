"""Tables and queries of imports and of their rows, and the texts for problems of files and rows."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from portal.base.files import date_parsing, file_limits, reading
from portal.base.ui.tables.columns import Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.value_words import add_brackets, join_sentences, join_values
from portal.domain.jobs import kinds, queries
from portal.domain.jobs.lists import (
    ACTION_COLUMN,
    DETAIL_COLUMN,
    LINE_COLUMN,
    MEMBER_COLUMN,
    OUTCOME_COLUMN,
    JobRows,
    job_chip,
)
from portal.domain.jobs.models import Action, Job, JobState, Row
from portal.domain.people.fields import CellKind
from portal.imports import sheet_kinds
from portal.imports.members import CLEAR_WORDS
from portal.imports.models import KIND, ImportChunk, ImportFile
from portal.imports.products import find_product


def all_imports() -> QuerySet[Job]:
    known = queries.jobs_of_family(KIND).select_related("sheet__file")
    return known.defer("sheet__file__headings", "sheet__file__sample")


def find_same_file(job: Job) -> Job | None:
    """Return the last started import of the same file, or None. Retries and undone imports are ignored."""
    file = job.sheet.file
    started = all_imports().filter(
        sheet__file__fingerprint=bytes(file.fingerprint), started_at__isnull=False, retry_of__isnull=True
    )
    others = started.exclude(pk=job.pk).exclude(sheet__file=file.pk).exclude(undone_by__state=JobState.DONE)
    return others.order_by("-started_at").first()


@dataclass(frozen=True)
class RefusedRows:
    """The first rows that an import leaves out, by line, and how many more there are."""

    rows: list[Row]
    more_count: int

    @property
    def lines(self) -> list[str]:
        """Return the number of each row in the file, with the member's name or code if it has one."""
        return [_line_text(row) for row in self.rows]


def _line_text(row: Row) -> str:
    named = (row.content or {}).get("name") or (row.content or {}).get("code")
    line = _("line %(line)s") % {"line": row.line}
    return join_sentences([line, add_brackets(named)]) if named else line


def refused_rows(job: Job, limit: int = 10) -> RefusedRows:
    """Return the rows that the check refused."""
    refused = Row.objects.filter(job=job, action=Action.REFUSED)
    rows = list(refused.order_by("line")[:limit])
    return RefusedRows(rows, refused.count() - len(rows) if len(rows) == limit else 0)


def cells_of_lines(job: Job, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the headings (as line 0) and the given lines of the file as uploaded."""
    headings, rows = open_file(job.sheet.file)
    yield 0, headings
    for each in rows:
        if each.number in lines:
            yield each.number, list(map(reading.shown_text, each.cells))


def chunks_of(file: ImportFile) -> Callable[[], Iterator[bytes]]:
    """Return a function that yields the pieces of a stored file."""

    def chunks() -> Iterator[bytes]:
        for number in range(ImportChunk.objects.filter(file=file).count()):
            yield ImportChunk.objects.get(file=file, number=number).body

    return chunks


def open_file(file: ImportFile) -> tuple[list[str], Iterator[reading.Line]]:
    """Return the headings and an iterator over the rows of a stored file.

    Raises FileFault, also while rows are read.
    """
    return reading.open_rows(file.layout, chunks_of(file))


# The most rows that a page reads to find the order of dates.
_DATED_ROWS = 5_000
_DATED: set[CellKind] = {"moment", "day", "clock"}


def find_date_order(job: Job, chosen: Mapping[str, int]) -> str | None:
    """Return how the file writes dates: "" if no date depends on it, None if only a person can know it."""
    kind = sheet_kinds.kind_of(job)
    places = [chosen[each.name] for each in kind.columns if each.kind in _DATED and each.name in chosen]
    if not places:
        return ""
    _headings, lines = open_file(job.sheet.file)
    texts = [
        line.cells[place]
        for line in itertools.islice(lines, _DATED_ROWS)
        for place in places
        if place < len(line.cells)
    ]
    if not any(map(date_parsing.is_order_dependent, texts)):
        return ""
    product = find_product(job.sheet.file.headings)
    return date_parsing.guess_date_order(texts) or (product.date_order if product else "") or None


def sample_text(cell: str, *, is_secret: bool) -> str:
    """Return the beginning of a cell. Only the digits of a secret are hidden, and not the last four characters.

    So a person sees whether a spreadsheet has lost zeros or letters.
    """
    if fault := reading.cell_fault(cell):
        return row_problem_text(fault)
    if not is_secret:
        return cell[:60]
    hidden = max(len(cell) - 4, 0) if len(cell) >= 8 else len(cell)
    return "".join("•" if place < hidden and one.isdecimal() else one for place, one in enumerate(cell[:60]))


class Imports(Table):
    name = "imports"
    caption = gettext_lazy("Imports")
    default_sort = "-id"
    columns = (
        Column("file", gettext_lazy("File"), value="title", phone="title", fixed=True),
        Column("state", gettext_lazy("State"), value=job_chip, fixed=True),
        Column("id", pgettext_lazy("moment", "Uploaded"), value="created_at", kind="time", sort="id"),
        Column("by", gettext_lazy("By"), value=lambda job: str(job.by)),
        Column("started", pgettext_lazy("moment", "Started"), value="started_at", kind="time"),
        Column("finished", pgettext_lazy("moment", "Finished"), value="finished_at", kind="time"),
        Column(
            "retry",
            gettext_lazy("Rows:"),
            value=lambda job: f"#{job.retry_of_id}" if job.retry_of_id else "",
            shown=False,
        ),
    )
    empty = EmptyState(
        gettext_lazy("No imports yet"),
        gettext_lazy("Import members from a spreadsheet. You check every row before anything is sent."),
        icon="table-import",
        action=gettext_lazy("Upload a spreadsheet"),
        url=lambda request: reverse("imports:new", args=[request.tenant.slug]),
    )

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)


class CheckedRows(JobRows):
    """The table of checked rows."""

    name = "import-check"
    caption = gettext_lazy("Rows checked")
    columns = (LINE_COLUMN, MEMBER_COLUMN, ACTION_COLUMN, DETAIL_COLUMN)


class SentRows(JobRows):
    """The table of rows and their results."""

    name = "import-rows"
    caption = gettext_lazy("Rows and results")
    columns = (LINE_COLUMN, MEMBER_COLUMN, OUTCOME_COLUMN, DETAIL_COLUMN)


Facts = Mapping[str, Any]

# Reasons and notes of all kinds of data.
_COMMON_TEXTS: dict[str, Callable[[Facts], str]] = {
    "string_too_long": lambda f: _("more than %(max_length)d characters") % f,
    "string_too_short": lambda f: _("cannot be empty"),
    "controls": lambda f: _("contains a line break, a control character or a mark of direction"),
    "moment": lambda f: date_parsing.explain_unread(f.get("value", ""), "moment"),
    "ends_before": lambda f: _("the end is before the start"),
    "email": lambda f: _quoted(f) + _("not an e-mail address"),
    "digits_lost": lambda f: (
        _quoted(f)
        + _("digits lost: spreadsheets keep only 15 digits of a number. Format the column as text and enter it again")
    ),
    "no_result": lambda f: _("a formula without a result: open the file in a spreadsheet program and save it again"),
    "error_value": lambda f: _("an error of the spreadsheet, such as #N/A or #REF!: correct the cell"),
    "format_differs": lambda f: _("the sheet shows this number in another form: check the value"),
    "merged": lambda f: _("merged cell: its value counts for each of its rows"),
    "zeros_at_end": lambda f: _("many zeros at the end: check whether a spreadsheet has lost digits"),
    "question_mark": lambda f: _("“?” in the name: a spreadsheet may have lost letters"),
    "letters_lost": lambda f: _("“?” replaces letters in the name: not changed"),
}
MEMBER_TEXTS: dict[str, Callable[[Facts], str]] = {
    **_COMMON_TEXTS,
    "missing": lambda f: _("required for new members"),
    "nul": lambda f: _("contains a NUL character"),
    "two_qr_codes": lambda f: _("enter either data or an address, not both"),
    "cannot_clear": lambda f: _("can be changed but not cleared"),
    "no_such_member": lambda f: _("no member with this ID"),
    "several_members": lambda f: _("%(n)d members have this code: use the member ID") % f,
    "zeros_missing": lambda f: (
        _quoted(f) + _("no member has this code, but one has %(code)s: zeros may be missing") % f
    ),
    "same_code": lambda f: _("taken as the same code as %(code)s") % f,
    "zeros_lost": lambda f: _("zeros are missing at the beginning: not changed"),
    "no_such_group": lambda f: (
        _quoted(f) + _("no group with this name or ID") + (_(". Did you mean “%(hint)s”?") % f if f.get("hint") else "")
    ),
    "one_group": lambda f: _("several groups: only “%(name)s” exists here, and is used") % f,
    "no_rights": lambda f: _("gets no access rights: the chosen rights are not loaded"),
    "several_groups": lambda f: _("%(n)d groups have this name: use the group ID") % f,
    "status": lambda f: _quoted(f) + _("not a known word for access: use yes or no"),
    "blocked": lambda f: _("no access in the file: the end of use is set to the moment of the check"),
    "twice_code": lambda f: _("same code as line %(line)d") % f,
    "twice_member": lambda f: _("same member as line %(line)d") % f,
    "twice_card": lambda f: _("same card as line %(line)d") % f,
    "card_of_another": lambda f: _("another member already has this card: the service will refuse it"),
}


def with_common_texts(texts: Mapping[str, Callable[[Facts], str]]) -> dict[str, Callable[[Facts], str]]:
    """Return the texts of a kind's own problems, and those that all kinds have."""
    return {**_COMMON_TEXTS, **texts}


def _quoted(facts: Facts) -> str:
    """Return the refused text in quotation marks before its reason; empty if it is not known (any longer)."""
    return _("“%(value)s”: ") % {"value": facts["value"]} if facts.get("value") else ""


def row_problem_text(code: str) -> str:
    return _COMMON_TEXTS[code]({})


def file_problem_text(word: str, facts: Facts) -> str:
    """Return why a file cannot be used, and that nothing was imported."""
    return join_sentences([file_limits.fault_text(word, facts), _("Nothing was imported.")])


def findings_texts(job: Job) -> list[str]:
    """Return what the check found in the whole file and did not refuse."""
    found: Mapping[str, Any] = job.sheet.findings
    texts = []
    if n := found.get("cleaned"):
        text = ngettext("%(n)s value was cleaned (line %(lines)s).", "%(n)s values were cleaned (lines %(lines)s).", n)
        texts.append(text % {"n": f"{n:,}", "lines": _lines_text(found["cleaned_lines"])})
    if n := found.get("hidden"):
        texts.append(ngettext("%(n)s hidden row is included.", "%(n)s hidden rows are included.", n) % {"n": f"{n:,}"})
    if n := found.get("merged"):
        texts.append(ngettext("%(n)s merged cell was filled.", "%(n)s merged cells were filled.", n) % {"n": f"{n:,}"})
    if short := found.get("short_cards"):
        texts.append(
            _("Most cards have %(digits)d digits, but %(n)d have fewer: zeros may be missing (lines %(lines)s).")
            % {**short, "lines": _lines_text(short["lines"])}
        )
    return texts


def _lines_text(lines: Sequence[int]) -> str:
    """Return the first ten line numbers."""
    return join_values(lines[:10]) + ("…" if len(lines) > 10 else "")


DOUBT_TEXTS: dict[str, Callable[[], str]] = {
    "private_use": lambda: _("Some characters are not letters of any language. Choose another encoding."),
    "half_kana": lambda: _("Half-width kana or kanji appear inside Latin words. Choose another encoding."),
    "garbled": lambda: _("Letters look as if the file was saved in another encoding. Choose another encoding."),
    "question_marks": lambda: _("Letters appear as “?”. Save the file again as CSV UTF-8 or XLSX."),
    "two_encodings": lambda: _("The file can be read in two encodings. Check the first values below."),
}


def doubt_texts(file: ImportFile) -> list[str]:
    """Return why the reading of a file is doubtful."""
    return [DOUBT_TEXTS[code]() for code in (file.more or {}).get("doubts", []) if code in DOUBT_TEXTS]


def layout_texts(file: ImportFile) -> list[str]:
    """Return what a person should know about the file's table: rows above the headings, hidden rows and columns."""
    more, texts = file.more or {}, []
    if above := sum(line < file.layout.heading_line for line, _cells in more.get("top_lines", [])):
        skipped = ngettext(
            "%(n)d row above the headings is skipped.", "%(n)d rows above the headings are skipped.", above
        )
        texts.append(skipped % {"n": above})
    if (n := more.get("hidden_rows", 0)) and not file.layout.leaves_out_hidden:
        texts.append(ngettext("%(n)d hidden row is included.", "%(n)d hidden rows are included.", n) % {"n": n})
    if hidden := [file.headings[place] for place in more.get("hidden_columns", []) if place < len(file.headings)]:
        texts.append(_("Hidden columns are included: %(names)s") % {"names": join_values(hidden)})
    return texts


def rights_text(saved: Mapping[str, str]) -> str:
    """Return a sentence about the rights of new members; empty if no rights were chosen."""
    texts = {
        "template": _("New members get the rights of the template “%(named)s”."),
        "member": _("New members get the same rights as %(named)s."),
        "group": _("New members get the usual rights of their group."),
    }
    source = saved.get("source", "")
    return texts[source] % {"named": saved.get("named", "")} if source in texts else ""


def clear_words_text() -> str:
    return " / ".join(CLEAR_WORDS)
