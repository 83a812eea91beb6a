"""The forms for an area's access: the hours, and what to do with members in special cases."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.areas.merging import AccessEdit, EditKind
from portal.domain.jobs.forms import StartForm, moment_field
from portal.domain.rights.forms import PassField

MAX_AGE_CHOICES = (
    ("0", _("just before sending (safest)")),
    ("15", _("in the last 15 minutes")),
    ("60", _("in the last hour")),
    ("1440", _("in the last day")),
)


class _AreaEditForm(StartForm):
    """The common fields: when the edit starts, and `trust`, the accepted age of rights.

    Older rights are read again before they are changed, with one call for each member.
    """

    trust = forms.ChoiceField(
        label=_("Use rights loaded"),
        choices=MAX_AGE_CHOICES,
        initial="0",
        help_text=_(
            "Older rights are loaded again first (1 API call per member). Members changed in the "
            "meantime, for example on the member site, are skipped."
        ),
    )

    kind = EditKind.GRANT

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["when"].label = _t("Start")
        self.fields["when"].required = False

    @property
    def ends_at(self) -> datetime | None:
        """Return when the given access ends; None without an end."""
        return self.cleaned_data.get("until")

    def edit(self, area_id: str) -> AccessEdit:
        told = self.cleaned_data
        return AccessEdit(
            self.kind, area_id, told.get("pass_"), bool(told.get("replace")), bool(told.get("everywhere"))
        )


class GrantForm(_AreaEditForm):
    """The form that gives members access, with its hours."""

    pass_ = PassField(label=pgettext_lazy("access", "When"), templates=True)
    replace = forms.BooleanField(
        label=_("Replace existing hours for this area"),
        help_text=_("Otherwise they keep their hours. Giving access never removes any."),
        required=False,
    )
    until = moment_field(
        pgettext_lazy("access", "Until"),
        help_text=_(
            "Leave empty for no end. At this time everyone who gets access here loses it, or "
            "gets their previous hours back. Until then the change waits under “Bulk changes”, "
            "where you can cancel it."
        ),
    )
    last = ["when", "at", "until", "trust"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("until") is not None:
            self.check_moment("until", "")
            if self.starts_at is not None and self.starts_at >= cleaned["until"] and "until" not in self.errors:
                self.add_error("until", _t("The end is before the start."))
        return cleaned

    def is_editing(self) -> bool:
        """Return whether the person changed the schedule's rows, so that the form is shown again."""
        widget: Any = self.fields["pass_"].widget
        return bool(widget.is_editing(self.data, "pass_"))


class WithdrawForm(_AreaEditForm):
    kind = EditKind.WITHDRAW
    everywhere = forms.BooleanField(
        label=_("Also from members who may enter every area"),
        help_text=_(
            "The service cannot exclude a single area. Such a member gets a list of all other "
            "areas instead; areas added later are not included."
        ),
        required=False,
    )
    last = ["when", "at", "trust"]
