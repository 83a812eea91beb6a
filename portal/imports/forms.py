"""Forms to upload a file, to choose how it is read and what its columns mean, and the rights of new members."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.files.file_limits import FileFault
from portal.base.files.reading import Layout
from portal.base.files.writing import is_reason_heading
from portal.base.ui.inputs import set_choices
from portal.base.ui.value_words import join_values
from portal.domain.jobs.models import Job
from portal.domain.people.fields import SheetColumn
from portal.domain.people.queries import group_names
from portal.domain.rights.forms import NewMemberRightsForm
from portal.imports import columns, lists, sheet_kinds
from portal.imports.models import KIND, ImportFile


class UploadForm(forms.Form):
    """The form to upload a spreadsheet. Reading the file shows whether it is valid."""

    kind_name: ClassVar[str] = KIND

    file = forms.FileField(
        label=gettext_lazy("Spreadsheet"),
        allow_empty_file=True,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = sheet_kinds.kind_named(self.kind_name)
        self.fields["file"].help_text = _("CSV or XLSX, up to %(rows)s rows and %(mb)d MB.") % {
            "rows": f"{kind.most_rows:,}", "mb": kind.most_bytes // 2**20
        }  # fmt: skip


# In the order in which they are offered after those that fit the whole file.
ENCODING_NAMES = {
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "cp932": "Shift-JIS",
    "iso2022_jp": "ISO-2022-JP",
    "cp1252": "Windows-1252",
}


class LayoutForm(forms.Form):
    """The form to read a file in another way: encoding, sheet, row of the headings, and hidden rows."""

    encoding = forms.ChoiceField(label=gettext_lazy("Encoding"), required=False)
    sheet = forms.ChoiceField(label=gettext_lazy("Sheet"), required=False)
    heading_line = forms.TypedChoiceField(label=gettext_lazy("Headings"), coerce=int, required=False)
    leaves_out_hidden = forms.BooleanField(label=gettext_lazy("Leave out hidden rows"), required=False)

    def __init__(self, file: ImportFile, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        more, layout = file.more or {}, file.layout
        fitting = more.get("encodings", [])
        encodings = {name: name for name in fitting} | ENCODING_NAMES if fitting else {}
        offered = {
            "encoding": list(encodings.items()),
            "sheet": [(name, name) for name in more.get("sheets", [])],
            "heading_line": [(line, _heading_line_text(line, cells)) for line, cells in more.get("top_lines", [])],
        }
        set_choices(self, **offered)
        for name, choices in offered.items():
            self.initial[name] = getattr(layout, name)
            if len(choices) < 2:
                del self.fields[name]
        self.initial["leaves_out_hidden"] = layout.leaves_out_hidden
        if not more.get("hidden_rows"):
            del self.fields["leaves_out_hidden"]
        self.layout = layout

    @property
    def chosen(self) -> Layout:
        """Return the chosen layout. In another sheet or encoding, the headings are looked for again."""
        chosen = {name: self.cleaned_data[name] for name in self.fields}
        if {"sheet", "encoding"} & set(self.changed_data):
            chosen["heading_line"] = 0
        return dataclasses.replace(self.layout, **chosen)


def _heading_line_text(line: int, cells: Sequence[str]) -> str:
    # A row may have the cards of a person.
    named = join_values(lists.sample_text(cell, is_secret=len(cell) >= 8) for cell in cells if cell.strip())
    return _("Row %(line)d: %(cells)s") % {"line": line, "cells": named[:80]}


@dataclass(frozen=True)
class Column:
    """A column of the file as the form shows it. `note`: why it is not imported, if the portal knows."""

    heading: str
    samples: list[str]
    choice: BoundField | None
    note: str = ""


class ColumnsForm(forms.Form):
    """The form to choose a field for each column; each field once.

    Results: `chosen`, `cleaned_data["default_group"]`, `options`.
    """

    default_group = forms.ChoiceField(label=gettext_lazy("Default group for new members"), required=False)
    name_order = forms.ChoiceField(
        label=gettext_lazy("Order of the names"),
        required=False,
        choices=[
            ("family", gettext_lazy("Family name, given name")),
            ("given", gettext_lazy("Given name, family name")),
        ],
    )
    date_order = forms.ChoiceField(
        label=gettext_lazy("Order of dates"),
        required=False,
        choices=[
            ("", gettext_lazy("As in the file")),
            ("ymd", gettext_lazy("Year, month, day (2027/4/3)")),
            ("dmy", gettext_lazy("Day, month, year (3/4/2027)")),
            ("mdy", gettext_lazy("Month, day, year (4/3/2027)")),
        ],
    )

    def __init__(self, job: Job, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.job, self.kind, sheet = job, sheet_kinds.kind_of(job), job.sheet
        self.headings: Sequence[str] = sheet.file.headings
        self.sample: list[list[str]] = sheet.file.sample
        self._columns = {each.name: each for each in self.kind.columns}
        if self.kind.has_groups:
            set_choices(self, default_group=[("", _("None: refuse these rows")), *group_names()])
            self.initial.setdefault("default_group", sheet.default_group)
        else:
            del self.fields["default_group"]
        self.initial["name_order"] = sheet.options.get("name_order") or columns.usual_name_order(
            self.headings, sheet.columns
        )
        self.initial["date_order"] = sheet.options.get("date_order", "")
        choices = [("", _("– don't import –")), *((name, cell.label) for name, cell in self._columns.items())]
        at = {place: field for field, place in sheet.columns.items()}
        for place, heading in enumerate(self.headings):
            if is_reason_heading(heading):
                continue
            self.fields[f"column_{place}"] = forms.ChoiceField(
                label=heading.strip() or _("Column %(n)d") % {"n": place + 1}, choices=choices, required=False
            )
            self.initial.setdefault(f"column_{place}", at.get(place, ""))

    @property
    def columns(self) -> Iterator[Column]:
        """Yield every column with its first values. Values of cards and QR codes are masked."""
        for place, heading in enumerate(self.headings):
            name = f"column_{place}"
            choice = self[name] if name in self.fields else None
            known = self._columns.get(str(choice.value() or "")) if choice is not None else None
            cells = [row[place] for row in self.sample if place < len(row) and row[place].strip()]
            samples = [lists.sample_text(cell, is_secret=known is not None and known.is_secret) for cell in cells[:3]]
            yield Column(heading, samples, choice, self._note_of(heading, known, choice))

    def _note_of(self, heading: str, known: SheetColumn | None, choice: BoundField | None) -> str:
        if choice is None:
            return _("not imported: reasons added by the portal")
        if known is None and columns.is_export_only(heading):
            return _("from the portal's own list: it cannot be imported")
        return ""

    @property
    def has_name_parts(self) -> bool:
        """Return whether a column has a part of the name."""
        names = (str(each.choice.value()) for each in self.columns if each.choice is not None)
        return any(name in sheet_kinds.PART_NAMES for name in names)

    @property
    def asks_date_order(self) -> bool:
        return bool(self.initial["date_order"] or self["date_order"].errors or self["date_order"].value())

    @property
    def chosen(self) -> dict[str, int]:
        """Return the column index by field."""
        places = ((place, self.cleaned_data.get(f"column_{place}")) for place in range(len(self.headings)))
        return {field: place for place, field in places if field}

    @property
    def options(self) -> dict[str, str]:
        found = {name: self.cleaned_data.get(name, "") for name in ("name_order", "date_order")}
        return {name: value for name, value in found.items() if value}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        taken: dict[str, int] = {}
        for place in range(len(self.headings)):
            field = cleaned.get(f"column_{place}")
            if field and field in taken:
                other = self.fields[f"column_{taken[field]}"].label
                self.add_error(
                    f"column_{place}",
                    _("“%(field)s” is already used for the column “%(other)s”. Choose another field.")
                    % {"field": self._columns[field].label, "other": other},
                )
            elif field:
                taken[field] = place
        if missing := self.kind.missing_text(taken.keys(), cleaned.get("default_group", "")):
            self.add_error(None, missing)
        if not self.errors and not cleaned.get("date_order"):
            cleaned["date_order"] = self._date_order(taken)
        return cleaned

    def _date_order(self, chosen: Mapping[str, int]) -> str:
        """Return the order of dates in the file. Add an error if only a person can know it."""
        try:
            order = lists.find_date_order(self.job, chosen)
        except FileFault:
            return ""  # the check refuses the file, with the reason
        if order is None:
            self.add_error("date_order", _("In this file, 3/4 can be 3 April or 4 March. Choose the order."))
        return order or ""


def rights_to_save(form: NewMemberRightsForm) -> dict[str, str]:
    """Return the chosen source of new members' rights from a valid form, to be saved with the sheet.

    The rights themselves are looked up when rows are checked. So a repeated check uses the template's current rights.
    """
    if form.source == "none":
        return {}
    cleaned = form.cleaned_data
    saved = {"source": form.source, "named": form.source_name}
    names = {"template": "rights_template", "member": "rights_member"}
    return saved | ({form.source: str(cleaned[names[form.source]]).strip()} if form.source in names else {})


def initial_rights(saved: Mapping[str, str]) -> dict[str, str]:
    """Return the form's initial values from the saved choice."""
    initial = {"rights_source": saved.get("source", "none")}
    return initial | {f"rights_{name}": saved[name] for name in ("template", "member") if name in saved}
