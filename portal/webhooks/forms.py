"""The form for the webhook's categories."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.value_words import service_word
from portal.webhooks.models import Webhook
from portal.webhooks.service_settings import ServiceSettings, category_choices


class CategoriesForm(ConflictForm, forms.Form):
    """The form for the categories of notifications.

    Choices are known categories; unknown ones that are set are kept.
    """

    categories = forms.MultipleChoiceField(
        label=_("Notify the portal of records in these categories"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one category.")},
    )

    def __init__(self, row: Webhook, present: ServiceSettings | None, data: Any = None) -> None:
        usual = row.tenant.environment.catalogue.records.categories
        super().__init__(data, initial={"categories": list(row.categories or usual)})
        choices = [(each, service_word("category", each)) for each in category_choices(row.tenant, row, present)]
        self.fields["categories"].choices = choices  # type: ignore[attr-defined]  # a choice field
