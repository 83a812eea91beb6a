"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.reports import creating, keeping, scheduling
from tenants.roles import Permission

nav.register(NavEntry("reports", _("Reports"), "report", "reports:index", Permission.REPORTS_VIEW))
keeping.register()
creating.register()
scheduling.register()
