"""The forms that change a guest: everything that operation 22 takes, and a later end in one press."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from accessapi.limits import JST
from accessapi.resources import write_moment
from portal.core.mirror.models import Guest
from portal.core.ui.sealed import SeenForm
from portal.core.visits.models import Preset, Visit
from portal.guests import fields, hours, payload, places
from portal.guests.hosts import host_of
from portal.guests.issuing import Host
from portal.guests.places import Places

Seen = dict[str, Any]
_PLAIN = {"name": "guest_name", "email": "email", "grace_minutes": "return_grace_period", "remarks": "remarks"}
_MOMENTS = {"start": "use_date_start", "end": "use_date_end"}
_DETAIL = {"area_ids": "area_id_list", "keys": "key_devices_list", "grace_minutes": "return_grace_period",
           "remarks": "remarks"}  # fmt: skip


class ChangeForm(SeenForm):
    """Changes a guest. `body()` is what differs from what the person was shown (`seen`, signed into the form), so that
    values which others changed meanwhile are neither sent nor overwritten; of areas and keys, what was added and taken
    away is applied to what is known now. What was never read is left out, and stays as it is.
    """

    name = fields.text(_("Name"), limits.GUEST_NAME_MAX, _("Enter a name."))
    start = fields.moment(_("Starts"), required=True)
    end = fields.moment(_("Ends"), required=True)
    grace_minutes = fields.grace()
    area_ids = fields.Areas(_("Areas"))
    keys = fields.Keys(_("Keys"))
    company = fields.text(_("Company"), 100)
    host = fields.text(_("Host"), 100)
    email = fields.email(_("E-mail"), help_text=_("Kept with the guest. The service sends nothing again."))
    remarks = forms.CharField(
        label=_("Remarks"),
        max_length=limits.REMARKS_MAX,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        validators=[fields.plain],
        error_messages={"max_length": fields.TOO_LONG},
    )
    new_code = forms.BooleanField(
        label=_("Replace the code"),
        required=False,
        help_text=_(
            "The portal makes a new one. The old one, wherever it was sent, opens nothing any more; links to it end."
        ),
    )
    revive = forms.BooleanField(label=_("Let the code that was cut short work again"), required=False)
    resurrects = False

    def __init__(self, *args: Any, visit: Visit, guest: Guest, known: Places, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visit, self.guest = visit, guest
        self.current = seen_of(visit, guest)
        self.see(f"guest {visit.guest_id}", self.current)
        self.initial = {**as_values(self.seen, visit), **self.initial}
        self.fields["area_ids"].choices = known.area_choices(self.seen.get("area_id_list") or [])
        self.fields["keys"].choices = known.key_choices(places.values_of(self.seen.get("key_devices_list")))
        for field, name in _DETAIL.items():
            if self.seen.get(name) is None:
                del self.fields[field]
        if not visit.is_cut:
            del self.fields["revive"]
        self.replacement = payload.new()

    @property
    def left_alone(self) -> list[str]:
        """What is not known of this guest, and so is not changed from here."""
        return [str(self.base_fields[field].label) for field in _DETAIL if field not in self.fields]

    # What is meant

    def clean_start(self) -> datetime | None:
        return fields.sensible(self.cleaned_data["start"])

    def clean_end(self) -> datetime | None:
        return fields.sensible(self.cleaned_data["end"])

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"])
        if not email and self.seen.get("email"):
            raise forms.ValidationError(_("The service cannot take an address away. Give another one."))
        return email

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        start, end = given.get("start"), given.get("end")
        if start and end and end < start:
            self.add_error("end", _t("The end lies before the start."))
        return given

    @property
    def chosen_host(self) -> Host:
        typed = self.cleaned_data["host"]
        if typed == self.visit.host_name:
            return Host(self.visit.host_name, self.visit.host_member_id)
        return host_of(typed)

    def body(self) -> dict[str, Any]:
        """What to send, in the specification's names: what was changed, and nothing else."""
        given = self.cleaned_data
        body: dict[str, Any] = {}
        for field, name in _PLAIN.items():
            if field in given and given[field] != (self.seen.get(name) or (0 if field == "grace_minutes" else "")):
                body[name] = given[field] if given[field] is not None else 0
        for field, name in _MOMENTS.items():
            if write_moment(given[field]) != self.seen.get(name):
                body[name] = write_moment(given[field])
        if "area_ids" in given:
            areas = _merged(self.seen["area_id_list"], given["area_ids"], self.current.get("area_id_list"))
            body |= {"area_id_list": areas} if areas is not None else {}
        if "keys" in given:
            seen, now = (places.values_of(each.get("key_devices_list")) for each in (self.seen, self.current))
            keys = _merged(seen, given["keys"], now)
            body |= {"key_devices_list": places.keys_of(keys)} if keys is not None else {}
        if given.get("new_code"):
            body["qrcode_data"] = self.replacement
        return body


def _merged(seen: list[str], given: list[str], now: list[str] | None) -> list[str] | None:
    """What a person added and took away, applied to what is there now; None when they changed nothing."""
    added = [each for each in given if each not in seen]
    taken = {each for each in seen if each not in given}
    if not added and not taken:
        return None
    kept = [each for each in (seen if now is None else now) if each not in taken]
    return [*kept, *(each for each in added if each not in kept)]


def seen_of(visit: Visit, guest: Guest) -> Seen:
    """A guest's fields as the specification writes them; None for what was never read."""
    detail = guest.detail if isinstance(guest.detail, dict) else {}
    start, end = guest.use_date_start or visit.use_date_start, guest.use_date_end or visit.use_date_end
    return {
        "guest_name": guest.guest_name or visit.guest_name,
        "email": guest.email or "",
        "use_date_start": write_moment(start),
        "use_date_end": write_moment(end),
        **{name: detail.get(name) for name in _DETAIL.values()},
    }


def as_values(seen: Seen, visit: Visit) -> dict[str, Any]:
    """The same as the form's values."""
    return {
        **{field: seen.get(name) for field, name in _PLAIN.items()},
        **{field: datetime.fromisoformat(seen[name]) for field, name in _MOMENTS.items()},
        "area_ids": seen.get("area_id_list") or [],
        "keys": places.values_of(seen.get("key_devices_list")),
        "company": visit.company,
        "host": visit.host_name,
    }


class ExtendForm(forms.Form):
    """A later end: +30 minutes, +1 hour, closing time, or whatever is typed."""

    to = forms.ChoiceField(
        required=False, choices=[("30", "30"), ("60", "60"), ("closing", "closing"), ("until", "until")]
    )
    until = fields.text(_("Until"), 40)
    revive = forms.BooleanField(label=_("Let the code that was cut short work again"), required=False)
    resurrects = False

    def __init__(self, *args: Any, visit: Visit, presets: list[Preset], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visit = visit
        self.now = hours.now()
        self.closing = closing(presets, self.now)

    @property
    def base(self) -> datetime:
        """From when it is extended: the end, or now when that is over."""
        return max(self.visit.use_date_end.astimezone(JST), self.now)

    @property
    def ways(self) -> list[tuple[str, str, str]]:
        """(value, word, the time it comes to) of each button."""
        found = [(str(n), word, hours.shown(self._by(n), self.now)) for n, word in ((30, "+30"), (60, "+60"))]
        if self.closing is not None and self.closing > self.base:
            found.append(("closing", _t("closing"), hours.shown(self.closing, self.now)))
        return found

    def _by(self, minutes: int) -> datetime:
        return (self.base + timedelta(minutes=minutes)).replace(second=0)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors:
            given["end"] = self._end(given)
        return given

    def _end(self, given: dict[str, Any]) -> datetime | None:
        if given.get("to") in ("30", "60"):
            return self._by(int(given["to"]))
        if given.get("to") == "closing" and self.closing is not None:
            if self.closing <= self.base:  # the page stood open, or another desk was faster
                self.add_error("until", _t("Closing time is no later than the end there is. Nothing was changed."))
            return self.closing
        try:
            end = hours.read(given.get("until") or "", self.now)
            fields.sensible(end)
        except (hours.NotATime, forms.ValidationError):
            self.add_error("until", _t("Type a time as 18:00 or 1800, minutes as +90, or a date before the time."))
            return None
        except hours.IsOver:
            self.add_error("until", _t("This time is over. To end the code now, cut it short."))
            return None
        if end <= self.visit.use_date_start:
            self.add_error("until", _t("The end lies before the start."))
        return end

    def body(self) -> dict[str, Any]:
        return {"use_date_end": write_moment(self.cleaned_data["end"])}


def closing(presets: list[Preset], now: datetime) -> datetime | None:
    """Today's closing time: the time of day at which the default preset ends, or the first that has one."""
    timed = sorted((p for p in presets if p.until is not None), key=lambda p: not p.is_default)
    if not timed or timed[0].until is None:
        return None
    return datetime.combine(now.date(), timed[0].until, JST)
