"""Register the app's parts that other apps run or show."""

from functools import partial

from django.utils.translation import gettext_lazy as _

from portal.base.ui import batching, command_palette, nav
from portal.base.ui.nav import NavEntry
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.members import follow, portraits, queries
from tenants.audit_log import queries as trail
from tenants.roles import Permission

nav.register(NavEntry("members", _("Members"), "users", "members:index", Permission.MEMBERS_VIEW, is_in_phone_bar=True))
batching.register_query("groups", queries.group_names, on_every_page=False)
follow.register()
trail.register_search(queries.trail_condition)
unread = partial(freshness.describe_unread, kind=MirrorKind.MEMBERS)
command_palette.register("members", _("Members"), queries.find_hits, Permission.MEMBERS_VIEW, unread)
events.subscribe(MirrorKind.MEMBERS, portraits.delete_orphan_portraits)
