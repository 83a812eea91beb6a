"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import batching, frame, nav
from portal.base.ui.nav import NavEntry
from portal.domain.places import queries as place_queries
from portal.home import queries
from portal.home.views import connection_lost
from tenants.roles import Permission

nav.register(
    NavEntry("home", _("Overview"), "layout-dashboard", "home:index", Permission.TENANT_VIEW, is_in_phone_bar=True)
)
frame.register_banners(connection_lost)
batching.register_query(queries.AREAS_QUERY, place_queries.areas_for_directions, on_every_page=False)
batching.register_query(queries.JOBS_QUERY, queries.recent_jobs, on_every_page=False)
