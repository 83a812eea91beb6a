"""Forms of members. They convert inputs to request bodies, and only changed values are sent.

The limit of one-time codes is stated by the service's environment, or learned from its refusals. Stated limits are
enforced by forms, imports and the client. Learned limits are only shown next to the field: they are parsed from a
sentence, and the service may change them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from portal.base.files import pictures
from portal.base.files.pictures import CheckedPicture, PictureFault, Upload
from portal.base.ui import inputs
from portal.base.ui.inputs import add_current_choices, set_choices
from portal.base.ui.shown_values import ShownValuesForm, add_conflicts
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.people.fields import form_of
from portal.domain.people.member_fields import CARD, CODE, END, GROUP, MEMBER, PRIVILEGES, START
from portal.domain.people.models import Member
from portal.domain.people.text_folding import fold, sort_key
from portal.members import status
from portal.members.queries import Choices
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, current_tenant

_TIMESTEP = "one_time_timestep_max"


def timestep_field() -> forms.IntegerField:
    """Return the field for the seconds of a one-time code, with the known maximum."""
    stated = _stated_max()
    return forms.IntegerField(
        label=_t("Code changes every (seconds)"),
        required=False,
        initial=usual_timestep(),
        min_value=limits.TIMESTEP_MIN,
        max_value=stated,
        help_text=" ".join(filter(None, [_t("Shorter is safer."), _limit_text(stated)])),
    )


def usual_timestep() -> int:
    """Return the default number of seconds of a code."""
    return min(limits.TIMESTEP_DEFAULT, _stated_max())


def _stated_max() -> int:
    return current_tenant().environment.catalogue.limits.one_time_timestep_max


def _limit_text(stated: int) -> str:
    learned = current_connection().limits_learned.get(_TIMESTEP) or {}
    if isinstance(learned.get("most"), int) and learned["most"] < stated:
        return _t("The service allows at most %(n)d.") % {"n": learned["most"]}
    if isinstance(learned.get("refused"), int) and learned["refused"] <= stated:
        return _t("The service refused %(n)d.") % {"n": learned["refused"]}
    return _t("The service allows at most %(n)d.") % {"n": stated} if stated < limits.TIMESTEP_MAX else ""


def learning_from(form: Any, action: Callable[..., Intent]) -> Callable[..., Intent]:
    """Return `action` extended so that a limit is learned from the service's answer to a member's form."""

    def submit_and_learn(**values: Any) -> Intent:
        intent = action(**values)
        _learn(intent, form)
        return intent

    return submit_and_learn


def _learn(intent: Intent, form: Any) -> None:
    """Save a learned limit and show it next to the field of this form."""
    sent = _timestep(intent.body)
    if sent is None:
        return
    known = current_connection().limits_learned.get(_TIMESTEP) or {}
    if intent.state == State.SUCCEEDED and known and sent >= min(known.values()):
        _save(None)
    elif intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        about = [each for each in intent.error_detail.splitlines() if re.search(r"(?<![a-z])timestep", each)]
        if about:
            _save(_limit_in(about[0], sent))
            form["qr_timestep"].help_text = timestep_field().help_text


def _limit_in(text: str, sent: int) -> dict[str, int]:
    """Return the one number in the service's message that can be a limit, else the refused value."""
    numbers = {int(each) for each in re.findall(r"(?<![\w.])\d{1,6}(?![\w])", text)}
    bounds = [each for each in numbers if limits.TIMESTEP_MIN < each < sent]
    return {"most": bounds[0]} if len(bounds) == 1 else {"refused": sent}


def _save(learned: dict[str, int] | None) -> None:
    with transaction.atomic():
        row = Connection.objects.select_for_update().get()
        others = {name: value for name, value in row.limits_learned.items() if name != _TIMESTEP}
        row.limits_learned = {**others, _TIMESTEP: learned} if learned else others
        row.save(update_fields=["limits_learned"])


def _timestep(body: Any) -> int | None:
    qrcode = body.get("qrcode") if isinstance(body, dict) else None
    once = qrcode.get("one_time_qr") if isinstance(qrcode, dict) else None
    step = once.get("timestep") if isinstance(once, dict) else None
    return step if isinstance(step, int) else None


# The most bytes that a QR code can hold. The specification has no limit for members.
QR_CAPACITY = 2953
# Fields that are edited as they are, without an input of their type.
PLAIN_FIELDS = tuple(each for each in MEMBER if each.section)
PlainValues = dict[str, Any]


class MemberForm(ShownValuesForm, form_of(PLAIN_FIELDS)):  # type: ignore[misc]  # a class made of the described fields
    """The form to create or, with `member`, change a member. `body()` returns the request's body.

    `groups` are the choices of membergroup_id. A change is what differs from the values shown to the person
    (`shown_values`, signed into the form). So values that other people changed since then are not overwritten.
    """

    card_data = CARD.form_field(label=_("Card number"))
    card_remove = forms.BooleanField(label=_("Remove the card"), required=False)
    qr = forms.ChoiceField(label=_("QR code"), widget=forms.RadioSelect)
    qr_email = inputs.AddressField(
        label=_("E-mail for the QR code"), max_length=limits.EMAIL_MAX, required=False,
        help_text=_("The service creates a QR code and e-mails it at once."),
    )  # fmt: skip
    qr_data = inputs.line_field(_("Data of the QR code"), QR_CAPACITY, strip=False, field_class=forms.CharField)
    qr_timestep = forms.IntegerField(required=False)  # its limits depend on the environment: see `timestep_field`
    qr_skew = forms.IntegerField(
        label=_("Neighbouring codes accepted"), required=False, initial=0,
        min_value=0, max_value=limits.SKEW_MAX,
        help_text=_("Number of codes before and after the current one that also open doors."),
    )  # fmt: skip

    def __init__(
        self, *args: Any, groups: Choices, member: Member | None = None, rights: bool = True, **kwargs: Any
    ) -> None:
        """Prepare the form.

        `rights`: whether the person may change privileges, which are shown once they are loaded.
        """
        super().__init__(*args, **kwargs)
        self.member = member
        if member is not None:
            known = plain_values_of(member) | {"privilege": (member.rights or {}).get("privilege")}
            self.set_shown(f"member {member.member_id}", known)
        self.initial = {**self._initial(), **self.initial}
        chosen = add_current_choices(groups, self.shown_values.get(GROUP.name, ""))
        set_choices(self, qr=self._qr_choices(), **{GROUP.name: [("", _t("Choose a group")), *chosen]})
        self.fields["qr_timestep"] = timestep_field()
        if member is None or not member.has_card:
            del self.fields["card_remove"]
        else:
            self.fields["card_data"].label = _("New card number")
            self.fields["card_data"].help_text = _("Leave empty to keep the current card. Leading zeros are kept.")
        if self._present_data:
            self.fields["qr_data"].help_text = _("Leave empty to keep the current data.")
        if rights and (member is None or isinstance(self.shown_values.get("privilege"), dict)):
            self.fields |= {flag.name: flag.form_field() for flag in PRIVILEGES}

    # Shown values

    @property
    def who(self) -> list[forms.BoundField]:
        return [self[each.name] for each in MEMBER.in_section("who")]

    @property
    def period(self) -> list[forms.BoundField]:
        return [self[each.name] for each in MEMBER.in_section("period")]

    @property
    def privileges(self) -> list[forms.BoundField]:
        return [self[flag.name] for flag in PRIVILEGES if flag.name in self.fields]

    @property
    def _present_data(self) -> str:
        stored = self.member.qrcode if self.member else None
        return str(stored.get("data") or "") if isinstance(stored, dict) else ""

    def _initial(self) -> dict[str, Any]:
        if self.member is None:
            return {"qr": "none"}
        initial = {each.name: getattr(self.member, each.name) for each in PLAIN_FIELDS}
        privilege = self.shown_values.get("privilege") or {}
        initial |= {flag.name: privilege.get(flag.name) is True for flag in PRIVILEGES if isinstance(privilege, dict)}
        once = self.member.qrcode.get("one_time_qr") if isinstance(self.member.qrcode, dict) else None
        if isinstance(once, dict):
            named = {"qr_timestep": once.get("timestep"), "qr_skew": once.get("skew")}
            initial |= {name: value for name, value in named.items() if isinstance(value, int)}
        return {**initial, "qr": "keep"}

    def _qr_choices(self) -> Choices:
        makes = [("email", _t("By e-mail")), ("data", _t("Enter QR data")), ("one_time", _t("One-time code"))]
        if self.member is None:
            return [("none", _t("None")), *makes]
        if not self.member.has_qr:
            return [("keep", _t("None")), *makes]
        present = status.qr_of(self.member)
        return [
            ("keep", _t("No change: %(kind)s") % {"kind": present.word if present else ""}),
            *makes,
            ("remove", _t("Remove")),
        ]

    # Validation and results

    def clean_card_data(self) -> str:
        return str(self.cleaned_data["card_data"]).strip()

    def clean_qr_data(self) -> str:
        data = str(self.cleaned_data["qr_data"]).strip()
        if len(data.encode()) > QR_CAPACITY:
            raise ValidationError(_("Too long for a QR code (%(n)d bytes). Shorten it."), params={"n": QR_CAPACITY})
        return data

    def _strip_texts(self, cleaned: dict[str, Any]) -> None:
        """Strip spaces around texts, unless the service already has them with spaces."""
        for each in PLAIN_FIELDS:
            typed = cleaned.get(each.name)
            if (
                isinstance(self.fields[each.name], forms.CharField)
                and typed
                and typed != self.shown_values.get(each.name)
            ):
                cleaned[each.name] = typed.strip()
                if each.required_message and not cleaned[each.name]:
                    self.add_error(each.name, str(each.required_message))

    def _check_code(self, code: str) -> None:
        """Refuse a code that another member has, as imports find it: without invisible characters, width and case."""
        present = self.member.member_code if self.member else ""
        if not code or fold(code) == fold(present):
            return
        others = Member.objects.filter(gone_at__isnull=True, code_key=sort_key(code))
        if other := others.only("id", "tenant_id", "member_code", "member_name").first():
            values = {"code": other.member_code, "name": other.member_name}
            self.add_error(CODE.name, _t("%(name)s has this code already (%(code)s).") % values)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        self._strip_texts(cleaned)
        if self.member is not None:
            entered = [
                (each, each.name, each.value_of_input(cleaned[each.name]))
                for each in PLAIN_FIELDS
                if each.name in cleaned
            ]
            read = {each.name: getattr(self.member, each.name) for each in PLAIN_FIELDS}
            add_conflicts(self, entered, plain_values_of(self.member), read)
        self._check_code(cleaned.get(CODE.name, ""))
        start, end = cleaned.get(START.name), cleaned.get(END.name)
        if start and end and end < start:
            self.add_error(END.name, _t("The end is before the start."))
        if cleaned.get("card_remove") and cleaned.get("card_data"):
            self.add_error("card_remove", _t("Enter a new number or remove the card, not both."))
        if cleaned.get("qr") == "email" and not cleaned.get("qr_email") and "qr_email" not in self.errors:
            self.add_error("qr_email", _t("Enter the e-mail address for the QR code."))
        if cleaned.get("qr") in ("data", "one_time") and not cleaned.get("qr_data") and "qr_data" not in self.errors:
            cleaned["qr_data"] = self._present_data
            if not cleaned["qr_data"]:
                self.add_error("qr_data", _t("Enter the QR code data."))
        return cleaned

    def body(self) -> dict[str, Any]:
        """Return what to send: all values of a new member, or the changed values of an existing one."""
        cleaned = self.cleaned_data
        entered = {each.name: each.value_of_input(cleaned[each.name]) for each in PLAIN_FIELDS}
        body = {
            name: value
            for name, value in entered.items()
            if not MEMBER.is_same(name, value, self.shown_values.get(name))
        }
        if cleaned["card_data"]:
            body["card_data"] = cleaned["card_data"]
        elif cleaned.get("card_remove"):
            body["card_data"] = ""
        return body | _qr_body(cleaned) | self._privilege_body()

    def _privilege_body(self) -> dict[str, Any]:
        """Return the whole privilege object, including unknown keys, if one of its flags was changed; else nothing."""
        if not self.privileges:
            return {}
        shown = self.shown_values.get("privilege") or {}
        chosen = {flag.name: bool(self.cleaned_data[flag.name]) for flag in PRIVILEGES}
        changed = any(value != (shown.get(name) is True) for name, value in chosen.items())
        return {"privilege": {**shown, **chosen}} if changed else {}


def _qr_body(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    match cleaned["qr"]:
        case "email":
            return {"qrcode": {"email": cleaned["qr_email"]}}
        case "data":
            return {"qrcode": {"data": cleaned["qr_data"]}}
        case "one_time":
            step, skew = cleaned.get("qr_timestep"), cleaned.get("qr_skew")
            once = {"timestep": usual_timestep() if step is None else step, "skew": skew or 0}
            return {"qrcode": {"data": cleaned["qr_data"], "one_time_qr": {"enabled": True, **once}}}
        case "remove":
            return {"qrcode": None}
        case _:
            return {}


def plain_values_of(member: Member) -> PlainValues:
    """Return a member's plain fields in the format of the specification."""
    return {each.name: each.written_value(member) for each in PLAIN_FIELDS}


class DeleteForm(forms.Form):
    """The form to confirm a deletion; it has no fields."""


class ExportForm(forms.Form):
    """The form for an export that may contain secrets."""

    kind = forms.ChoiceField(
        label=_("Format"), choices=[("xlsx", "XLSX"), ("csv", "CSV")], initial="xlsx", widget=forms.RadioSelect
    )
    secrets = forms.BooleanField(
        label=_("With card numbers and QR codes"), required=False, initial=True,
        help_text=_("Anyone with this file can copy cards and codes. The export is recorded in the audit log."),
    )  # fmt: skip


def _file(label: Any, accept: str, **attrs: str) -> forms.FileField:
    widget = forms.FileInput(attrs={"accept": accept, **attrs})
    return forms.FileField(label=label, required=False, allow_empty_file=True, max_length=1000, widget=widget)


class _PictureForm(forms.Form):
    """The form for a picture of a person. It is checked here; `picture` is set once the form is valid."""

    picture: CheckedPicture

    def check(self, upload: Upload) -> CheckedPicture:
        """Return the picture of an uploaded file. Raises PictureFault."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name = next((name for name in self.fields if cleaned.get(name)), "image")
        if self.errors:
            return cleaned
        if cleaned.get(name) is None:
            self.add_error(name, _t("Choose a picture."))
            return cleaned
        try:
            self.picture = self.check(cleaned[name])
        except PictureFault as fault:
            self.add_error(name, str(fault))
        return cleaned


class FaceForm(_PictureForm):
    """The form for a face image: a file, or a photo from the phone's camera."""

    image = _file(_("Picture as a file"), "image/jpeg")
    taken = _file(_("Take a picture with this phone"), "image/jpeg", capture="user")

    def check(self, upload: Upload) -> CheckedPicture:
        return pictures.prepare_face(upload)


class ProfileForm(_PictureForm):
    """The form for a profile picture."""

    image = _file(_("Picture"), "image/jpeg,image/png")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["image"].help_text = _t(
            "JPEG or PNG, up to %(mb)d MB. It is resized to %(side)d pixels and location and "
            "time are removed before sending."
        ) % {"mb": pictures.PROFILE_MAX // 1024**2, "side": pictures.PROFILE_SIDE}

    def check(self, upload: Upload) -> CheckedPicture:
        return pictures.prepare_profile_picture(upload)
