"""Choosing a picture of a person: checked here, before anything leaves."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from portal.members import pictures
from portal.members.pictures import Picture, PictureFault


def _file(label: Any, accept: str, **attrs: str) -> forms.FileField:
    widget = forms.FileInput(attrs={"accept": accept, **attrs})
    return forms.FileField(label=label, required=False, allow_empty_file=True, max_length=1000, widget=widget)


class FaceForm(forms.Form):
    """A face image: a file, or what a phone's camera hands over. `picture` is set once the form is valid."""

    image = _file(_("Picture as a file"), "image/jpeg")
    taken = _file(_("Take a picture with this phone"), "image/jpeg", capture="user")

    picture: Picture

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        name = "image" if given.get("image") else "taken"
        if not self.errors:
            self.picture = _checked(self, name, given.get(name), pictures.face)
        return given


class ProfileForm(forms.Form):
    """A profile picture."""

    image = _file(_("Picture"), "image/jpeg,image/png")
    picture: Picture

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["image"].help_text = _t(
            "JPEG or PNG, up to %(mb)d MB. It is resized to %(side)d pixels and location and "
            "time are removed before sending."
        ) % {"mb": pictures.PROFILE_MAX // 1024**2, "side": pictures.PROFILE_SIDE}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors:
            self.picture = _checked(self, "image", given.get("image"), pictures.profile)
        return given


def _checked(form: forms.Form, name: str, upload: UploadedFile | None, check: Any) -> Any:
    if upload is None:
        form.add_error("image", _t("Choose a picture."))
        return None
    try:
        return check(upload)
    except PictureFault as fault:
        form.add_error(name, ValidationError(str(fault)))
        return None
