"""Register the stored sentences about cameras."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "safety_rule.command_pictures": pgettext_lazy("safety rule", "Camera settings"),
        "camera.added": _("Camera added: %(camera)s"),
        "camera.edited": _("Camera changed: %(camera)s"),
        "camera.settings": _("Camera settings changed"),
        "camera.removed": _("Camera removed: %(camera)s"),
        "camera.wall": _("Pictures of cameras viewed"),
        "camera.latest": _("Latest picture viewed: %(camera)s"),
        "camera.live": _("Camera viewed live: %(camera)s"),
        "camera.recorded": _("Recording viewed: %(camera)s, %(since)s to %(until)s"),
        "camera.clip": _("Video of a log record viewed: %(camera)s, %(at)s"),
        "camera.picture": _("Picture viewed: %(camera)s, %(at)s"),
    }
)
