"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import batching, nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.domain.mirror import freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.logs import searches
from portal.logs.exports import actions
from tenants.roles import Permission

nav.register(NavEntry("logs", _("Activity log"), "list-details", "logs:index", Permission.LOGS_TODAY))
kinds.register(actions.LOG_EXPORT)
batching.register_query(searches.BATCH_NAME, searches.all_searches, on_every_page=False)
freshness.register_footer("logs", MirrorKind.HISTORIES)
