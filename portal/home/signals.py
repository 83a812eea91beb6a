"""Register the overview, its banner, and the menu entries of the pages of `tenants`."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import batching, frame, nav
from portal.base.ui.nav import NavEntry
from portal.domain.places import queries as place_queries
from portal.home import queries
from portal.home.views import connection_lost
from tenants.roles import Permission

nav.register(NavEntry("home", _("Overview"), "layout-dashboard", "home:index", Permission.TENANT_VIEW))
frame.register_banners(connection_lost)
batching.register_query(queries.AREAS_QUERY, place_queries.areas_for_directions, on_every_page=False)
batching.register_query(queries.JOBS_QUERY, queries.recent_jobs, on_every_page=False)
# The pages of `tenants`, which registers nothing here.
nav.register(NavEntry("connection", _("Connection"), "plug-connected", "connection:index", Permission.CONNECTION_VIEW))
nav.register(NavEntry("staff", _("Staff"), "id-badge-2", "staff:index", Permission.STAFF_VIEW))
nav.register(NavEntry("audit", _("Audit log"), "list-check", "audit:index", Permission.AUDIT_VIEW))
nav.register(
    NavEntry("requests", _("Requests sent"), "send", "intents:index", Permission.AUDIT_VIEW),
)
nav.register(NavEntry("roles", _("Roles"), "shield-check", "roles:index", Permission.TENANT_VIEW))
