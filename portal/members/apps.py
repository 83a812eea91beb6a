from functools import partial

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.base.ui import batching, command_palette
        from portal.domain.mirror import events, freshness
        from portal.domain.mirror.kinds import MirrorKind
        from portal.members import follow, portraits, queries
        from tenants.audit_log import queries as trail
        from tenants.roles import Permission

        batching.register_query("groups", queries.group_names, on_every_page=False)
        follow.register()
        trail.register_search(queries.trail_condition)
        unread = partial(freshness.describe_unread, kind=MirrorKind.MEMBERS)
        command_palette.register("members", _("Members"), queries.find_hits, Permission.MEMBERS_VIEW, unread)
        events.subscribe(MirrorKind.MEMBERS, portraits.delete_orphans)
