"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import frame, nav
from portal.base.ui.nav import NavEntry
from portal.home import presence_summary, queries
from portal.home.views import connection_lost
from tenants.roles import Permission

nav.register(
    NavEntry("home", _("Overview"), "layout-dashboard", "home:index", Permission.TENANT_VIEW, is_in_phone_bar=True)
)
frame.register_banners(connection_lost)
presence_summary.register()
queries.register()
