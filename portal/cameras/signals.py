"""Register the area's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from tenants.roles import Permission
from tenants.sentences import register_subject

nav.register(NavEntry("cameras", _("Cameras"), "video", "cameras:index", Permission.CAMERAS_VIEW))
register_subject("camera", _("Cameras"), "camera")
