"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.events import MirrorKind
from portal.domain.intents import form_handling
from portal.domain.sync import freshness
from tenants.roles import Permission

nav.register(NavEntry("intercom", _("Intercom"), "phone", "intercom:index", Permission.INTERCOM, contract="door"))
# Receptionists have few pages, so the footer here refreshes the list of guests.
freshness.register_footer("intercom", MirrorKind.GUESTS, refresh_url_name="guests:refresh")
form_handling.mount_pages(Permission.INTERCOM, "intercom:request_")
