"""Tables and queries of imports and of their rows, and the texts for problems of files and rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.files import file_limits, reading
from portal.base.ui.tables.columns import Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.value_words import join_sentences
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
from portal.domain.jobs.models import Action, Job, Row
from portal.imports.columns import CLEAR_WORDS
from portal.imports.models import KIND, ImportChunk, ImportFile


def all_imports() -> QuerySet[Job]:
    known = queries.jobs_of_family(KIND).select_related("sheet__file")
    return known.defer("sheet__file__headings", "sheet__file__sample")


def find_same_file(job: Job) -> Job | None:
    """Return the last started import of the same file, or None. Retries are ignored."""
    file = job.sheet.file
    started = all_imports().filter(
        sheet__file__fingerprint=bytes(file.fingerprint), started_at__isnull=False, retry_of__isnull=True
    )
    return started.exclude(pk=job.pk).exclude(sheet__file=file.pk).order_by("-started_at").first()


@dataclass(frozen=True)
class RefusedRows:
    """The first rows that an import leaves out, by line, and how many more there are."""

    rows: list[Row]
    more_count: int


def refused_rows(job: Job, limit: int = 10) -> RefusedRows:
    """Return the rows that the check refused."""
    refused = Row.objects.filter(job=job, action=Action.REFUSED)
    rows = list(refused.order_by("line")[:limit])
    return RefusedRows(rows, refused.count() - len(rows) if len(rows) == limit else 0)


def cells_of_lines(job: Job, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the headings (as line 0) and the given lines of the file as uploaded."""
    headings, rows = open_file(job.sheet.file)
    yield 0, headings
    yield from (each for each in rows if each[0] in lines)


def open_file(file: ImportFile) -> tuple[list[str], Iterator[reading.Line]]:
    """Return the headings and an iterator over the rows of a stored file.

    Raises FileFault, also while rows are read.
    """

    def chunks() -> Iterator[bytes]:
        for number in range(ImportChunk.objects.filter(file=file).count()):
            yield ImportChunk.objects.get(file=file, number=number).body

    return reading.open_rows(file.kind, file.encoding, file.delimiter, chunks)


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

ROW_PROBLEMS: dict[str, Callable[[Facts], str]] = {
    "missing": lambda f: _("required for new members"),
    "string_too_long": lambda f: _("more than %(max_length)d characters") % f,
    "string_too_short": lambda f: _("cannot be empty"),
    "nul": lambda f: _("contains a NUL character"),
    "moment": lambda f: _("date not recognised: use 2026-12-01 or 2026-12-01 09:00"),
    "ends_before": lambda f: _("the end is before the start"),
    "email": lambda f: _("not an e-mail address"),
    "two_qr_codes": lambda f: _("enter either data or an address, not both"),
    "digits_lost": lambda f: _(
        "digits lost: spreadsheets keep only 15 digits of a number. Format the column as text and enter it again"
    ),
    "cannot_clear": lambda f: _("can be changed but not cleared"),
    "no_such_member": lambda f: _("no member with this ID"),
    "several_members": lambda f: _("%(n)d members have this code: use the member ID") % f,
    "no_such_group": lambda f: (
        _("no group with this name or ID") + (_(". Did you mean “%(hint)s”?") % f if f.get("hint") else "")
    ),
    "no_rights": lambda f: _("gets no access rights: the chosen rights are not loaded"),
    "several_groups": lambda f: _("%(n)d groups have this name: use the group ID") % f,
    "twice_code": lambda f: _("same code as line %(line)d") % f,
    "twice_member": lambda f: _("same member as line %(line)d") % f,
    "twice_card": lambda f: _("same card as line %(line)d") % f,
    "card_of_another": lambda f: _("another member already has this card: the service will refuse it"),
}


def file_problem_text(word: str, facts: Facts) -> str:
    """Return why a file cannot be used, and that nothing was imported."""
    return join_sentences([file_limits.fault_text(word, facts), _("Nothing was imported.")])


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
