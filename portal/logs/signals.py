"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.mirror import freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.logs import searches
from portal.logs.exports import actions
from tenants.roles import Permission

nav.register(NavEntry("logs", _("Activity log"), "list-details", "logs:index", Permission.LOGS_TODAY))
actions.register()
searches.register()
freshness.register_footer("logs", MirrorKind.HISTORIES)
