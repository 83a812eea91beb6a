"""The forms of alerts, rules, a person's own notification settings, recipients and web addresses."""

from datetime import time
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from portal.base.ui.inputs import ENDS_NEXT_DAY, add_current_choices, set_choices
from portal.base.ui.shown_values import ConflictForm
from portal.domain.alerts.models import TEXT_MAX, Severity
from portal.domain.alerts.rules import EffectiveRule, Hours
from portal.domain.alerts.scopes import load_scopes
from portal.domain.notifications.models import NAME_MAX, AlertRecipients, NotificationSettings, WebAddress
from portal.domain.notifications.posting import HTTPS_PORT, is_refused_ip_address
from portal.domain.places.models import Area, PassController
from tenants.models import Staff
from tenants.roles import TENANT_ROLES, Permission, find_role

DAYS = [
    (0, _("Monday")),
    (1, _("Tuesday")),
    (2, _("Wednesday")),
    (3, _("Thursday")),
    (4, _("Friday")),
    (5, _("Saturday")),
    (6, _("Sunday")),
]


class NoteForm(forms.Form):
    """A note on an alert, or the text about what was done when it is closed."""

    text = forms.CharField(
        label=pgettext_lazy("alert", "Note"),
        max_length=TEXT_MAX,
        error_messages={"required": pgettext_lazy("alert", "Enter a note.")},
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class HoursForm(forms.Form):
    """Days, and the hours of these days; `hours` is None without days."""

    days = forms.TypedMultipleChoiceField(choices=DAYS, coerce=int, required=False, widget=forms.CheckboxSelectMultiple)
    begin = forms.TimeField(
        label=pgettext_lazy("hours", "From"), required=False, widget=forms.TimeInput(attrs={"type": "time"})
    )
    end = forms.TimeField(
        label=pgettext_lazy("hours", "Until"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}),
        help_text=ENDS_NEXT_DAY,
    )

    def __init__(self, hours: Hours | None, data: QueryDict | None, initial: dict[str, Any]) -> None:
        if hours is not None:
            initial |= {"days": list(hours.days), "begin": hours.begin, "end": hours.end}
        super().__init__(data, initial=initial)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        days, begin, end = (found.get(name) for name in ("days", "begin", "end"))
        if days and not (isinstance(begin, time) and isinstance(end, time)):
            self.add_error("days", _t("Enter a start and end time."))
        elif days and begin == end:
            self.add_error("end", _t("The two times must differ."))
        return found

    @property
    def hours(self) -> Hours | None:
        cleaned = self.cleaned_data
        return Hours(tuple(cleaned["days"]), cleaned["begin"], cleaned["end"]) if cleaned["days"] else None


class RuleForm(ConflictForm, HoursForm):
    """A rule: on or off, its severity, its numbers with their limits, and its hours."""

    is_on = forms.BooleanField(label=_("Switched on"), required=False)
    severity = forms.TypedChoiceField(label=_("Severity"), choices=Severity.choices, coerce=int)
    areas = forms.MultipleChoiceField(
        label=pgettext_lazy("alert rule", "Areas"), required=False, widget=forms.CheckboxSelectMultiple
    )
    doors = forms.MultipleChoiceField(
        label=pgettext_lazy("alert rule", "Doors"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Leave areas and doors empty to apply the rule everywhere."),
    )

    def __init__(self, rule: EffectiveRule, data: QueryDict | None = None) -> None:
        initial: dict[str, Any] = {"is_on": rule.is_on, "severity": int(rule.severity), **rule.values}
        initial |= {"areas": list(rule.scope.areas), "doors": list(rule.scope.doors)}
        super().__init__(rule.hours, data, initial)
        self._set_places(rule)
        self.fields["days"].label = _t("Days (none: always)")
        self.rule = rule
        for each in rule.kind.all_settings:
            self.fields[each.name] = forms.IntegerField(
                label=str(each.label), min_value=each.minimum, max_value=each.maximum
            )
        self.order_fields(
            ["is_on", "severity", *(each.name for each in rule.kind.all_settings), "areas", "doors", "days", "begin"]
        )

    def _set_places(self, rule: EffectiveRule) -> None:
        """Offer areas and doors, if rules of the kind can be limited to some."""
        if not rule.kind.has_scope:
            del self.fields["areas"], self.fields["doors"]
            return
        areas = [(row.area_id, str(row)) for row in Area.objects.order_by("name_order", "pk")]
        doors = [(row.device_id, str(row)) for row in PassController.objects.order_by("name_order", "pk")]
        set_choices(
            self,
            areas=add_current_choices(areas, *rule.scope.areas),
            doors=add_current_choices(doors, *rule.scope.doors),
        )

    def clean(self) -> dict[str, Any]:
        found = super().clean()
        days = found.get("days")
        if not days and (found.get("begin") or found.get("end")):
            self.add_error("days", _t("Choose the days."))
        if self.rule.kind.has_hours and found.get("is_on") and not days and "days" not in self.errors:
            self.add_error("days", _t("Choose the closed hours."))
        return found

    @property
    def rule_values(self) -> EffectiveRule:
        """Return the rule with the form's values."""
        cleaned = self.cleaned_data
        values = {each.name: cleaned[each.name] for each in self.rule.kind.all_settings}
        [scope] = load_scopes([(cleaned.get("areas", ()), cleaned.get("doors", ()))])
        severity = Severity(cleaned["severity"])
        return EffectiveRule(self.rule.kind, cleaned["is_on"], severity, values, self.hours, scope, self.rule.pk)


_SEVERITY_CHOICES = (
    (0, _("None")),
    (3, _("Alarms")),
    (2, _("Alarms and warnings")),
    (1, pgettext_lazy("alerts", "All")),
)
_URL_MAX = 1000


class NotificationForm(HoursForm):
    """The alerts that a person gets by e-mail, and the hours without e-mail."""

    field_order = ("least",)
    least = forms.TypedChoiceField(label=_("E-mail me about"), choices=_SEVERITY_CHOICES, coerce=int)

    def __init__(self, saved: NotificationSettings | None, least: int, data: QueryDict | None = None) -> None:
        hours = Hours.of(saved.hours) if saved else None
        super().__init__(hours, data, {"least": saved.least if saved else least})
        labels = {"days": _t("Quiet days"), "begin": _t("Quiet hours from"), "end": _t("Quiet hours to")}
        for name, label in labels.items():
            self.fields[name].label = label


class RecipientsForm(ConflictForm, forms.Form):
    """The roles and people that a rule's alerts can be sent to."""

    def __init__(self, audience: AlertRecipients | None, data: QueryDict | None = None) -> None:
        initial = {"roles": audience.roles, "people": audience.people} if audience else {}
        super().__init__(data, initial=initial)
        named = [each for each in TENANT_ROLES if Permission.ALERTS_VIEW in each.permissions]
        roles = [(each.name, each.title) for each in named]
        staff = Staff.objects.filter(is_active=True, user__is_active=True).select_related("user").order_by("user__name")
        eligible = [each for each in staff if Permission.ALERTS_VIEW in find_role(each.role).permissions]
        people = [(each.user_id, str(each.user)) for each in eligible]
        several = forms.CheckboxSelectMultiple
        refused = {"invalid_choice": _t("Recipients not saved. Choose roles and people from the list.")}
        self.fields["roles"] = forms.MultipleChoiceField(
            label=_t("Roles"), choices=roles, required=False, widget=several, error_messages=refused
        )
        self.fields["people"] = forms.TypedMultipleChoiceField(
            label=_t("People"), choices=people, coerce=int, required=False, widget=several, error_messages=refused
        )

    @classmethod
    def of(cls, kind: str, data: QueryDict | None = None) -> "RecipientsForm":
        """Return the form with a rule's saved recipients."""
        return cls(AlertRecipients.objects.filter(kind=kind).first(), data)


class AddressForm(forms.Form):
    """A new web address: its URL, format, and the severity of its alerts."""

    name = forms.CharField(label=pgettext_lazy("web address", "Name"), max_length=NAME_MAX)
    url = forms.CharField(
        label=_("Web address"), max_length=_URL_MAX, help_text=_("An https address that accepts JSON messages.")
    )
    shape = forms.ChoiceField(label=pgettext_lazy("web address", "Format"), choices=WebAddress.Shape.choices)
    least = forms.TypedChoiceField(
        label=pgettext_lazy("web address", "Alerts"), choices=_SEVERITY_CHOICES[1:], coerce=int, initial=2
    )
    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES, initial=get_language)

    def clean_url(self) -> str:
        """Return the address. Rejects schemes other than https, sign-in data, and IP addresses of closed networks."""
        url = str(self.cleaned_data["url"]).strip()
        try:
            parts = urlsplit(url)
            plain = parts.scheme == "https" and parts.hostname and parts.port != 0 and not parts.fragment
        except ValueError:
            plain = False
        if not plain or parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
            raise forms.ValidationError(_t("Enter an address that begins with https://, without sign-in data."))
        port = parts.port or HTTPS_PORT
        if port != HTTPS_PORT and not settings.ALERT_NETWORKS:
            raise forms.ValidationError(_t("Port not allowed. Alerts go to port 443 only: remove the port."))
        if is_refused_ip_address(parts.hostname or "", port):
            raise forms.ValidationError(
                _t("Address in a private network: not allowed. Ask the operator of the portal.")
            )
        return url
