"""The form to upload a list and choose how its guests get their codes."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.expected.dry_run import MOST_BYTES, MOST_ROWS


class UploadForm(forms.Form):
    """A spreadsheet. It is not validated before it is read."""

    file = forms.FileField(
        label=gettext_lazy("List"),
        allow_empty_file=True,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx"}),
    )
    delivery = forms.ChoiceField(
        label=gettext_lazy("Codes"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            ("direct", gettext_lazy("At the desk (shown or printed on arrival)")),
            ("mail", gettext_lazy("By e-mail from the service, to guests with an address")),
        ],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "CSV (UTF-8 or Shift-JIS) or XLSX, up to %(rows)d rows and %(mb)d MB. Each row uses "
            "one of the hour's 720 API calls. The first line must contain the headings."
        ) % {"rows": MOST_ROWS, "mb": MOST_BYTES // 2**20}
