"""The form of the webhook's categories."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.core.ui.vocabulary import word


class CategoriesForm(forms.Form):
    """Which records of the log the service tells of. Offered are the known ones; whatever is set stays in the list."""

    categories = forms.MultipleChoiceField(
        label=_("Notify the portal of records in these categories"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one category.")},
    )

    def __init__(self, *args: Any, offered: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["categories"].choices = [(each, word("category", each)) for each in offered]  # type: ignore[attr-defined]  # a choice field
