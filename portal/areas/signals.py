"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.areas import edit_jobs, grants, queries
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from tenants.audit_log import changes
from tenants.roles import Permission

nav.register(NavEntry("areas", _("Areas"), "map-pin", "areas:index", Permission.AREAS_VIEW))
events.subscribe(MirrorKind.RIGHTS, grants.update_grants)
events.subscribe(MirrorKind.AREAS, grants.compact_tallies)
freshness.register_footer("areas", MirrorKind.AREAS)
kinds.register(edit_jobs.EDIT)
kinds.register(edit_jobs.LOADING)
changes.register_words("area", queries.audit_words)
