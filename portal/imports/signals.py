"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.imports import actions
from tenants.roles import Permission

nav.register(NavEntry("imports", _("Imports"), "table-import", "imports:index", Permission.IMPORTS_RUN))
kinds.register(actions.IMPORT)
