"""Forms to upload a file, to choose the fields of its columns, and to choose the rights of new members."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.files import file_limits
from portal.base.files.writing import is_reason_heading
from portal.base.ui.inputs import set_choices
from portal.domain.jobs.models import Job
from portal.domain.people.fields import mask_secret
from portal.domain.people.member_fields import CODE, MEMBER, MEMBER_ID, NAME
from portal.domain.people.queries import group_names
from portal.domain.rights.forms import NewMemberRightsForm
from portal.imports.columns import CELLS_BY_NAME


class UploadForm(forms.Form):
    """The form to upload a spreadsheet. Reading the file shows whether it is valid."""

    file = forms.FileField(
        label=gettext_lazy("Spreadsheet"),
        allow_empty_file=True,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "CSV (UTF-8 or Shift-JIS; comma, semicolon or tab) or XLSX, up to %(rows)s rows and "
            "%(mb)d MB. The first line must contain the headings."
        ) % {"rows": f"{file_limits.MAX_ROWS:,}", "mb": file_limits.MAX_FILE_BYTES // 2**20}


@dataclass(frozen=True)
class Column:
    """A column of the file as the form shows it."""

    heading: str
    samples: list[str]
    choice: BoundField | None


class ColumnsForm(forms.Form):
    """The form to choose a field for each column; each field once.

    Results: `chosen`, `cleaned_data["default_group"]`.
    """

    default_group = forms.ChoiceField(label=gettext_lazy("Default group for new members"), required=False)

    def __init__(self, job: Job, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headings: Sequence[str] = job.sheet.file.headings
        self.sample: list[list[str]] = job.sheet.file.sample
        set_choices(self, default_group=[("", _("None: refuse these rows")), *group_names()])
        self.initial.setdefault("default_group", job.sheet.default_group)
        choices = [("", _("– don't import –")), *((cell.name, cell.label) for cell in MEMBER.sheet_columns)]
        at = {place: field for field, place in job.sheet.columns.items()}
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
            known = CELLS_BY_NAME.get(str(choice.value() or "")) if choice is not None else None
            cells = [row[place] for row in self.sample if place < len(row) and row[place].strip()]
            samples = [mask_secret(cell) if known is not None and known.is_secret else cell[:60] for cell in cells[:3]]
            yield Column(heading, samples, choice)

    @property
    def chosen(self) -> dict[str, int]:
        """Return the column index by field."""
        places = ((place, self.cleaned_data.get(f"column_{place}")) for place in range(len(self.headings)))
        return {field: place for place, field in places if field}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        taken: dict[str, int] = {}
        for place in range(len(self.headings)):
            field = cleaned.get(f"column_{place}")
            if field and field in taken:
                other = self.fields[f"column_{taken[field]}"].label
                self.add_error(
                    f"column_{place}",
                    _("“%(field)s” is already used for the column “%(other)s”.")
                    % {"field": CELLS_BY_NAME[field].label, "other": other},
                )
            elif field:
                taken[field] = place
        if not taken.keys() & {NAME.name, CODE.name, MEMBER_ID.name}:
            self.add_error(None, _("Choose a column for name, member code or member ID."))
        return cleaned


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
