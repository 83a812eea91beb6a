from functools import partial

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.core.mirror import freshness, hooks
        from portal.core.mirror.kinds import MirrorKind
        from portal.core.ui import palette, together
        from portal.members import follow, portraits, queries
        from tenants.roles import Permission
        from tenants.trail import queries as trail

        together.register_query("groups", queries.group_names, on_every_page=False)
        follow.register()
        trail.register_search(queries.trail_condition)
        unread = partial(freshness.describe_unread, kind=MirrorKind.MEMBERS)
        palette.register("members", _("Members"), queries.find_hits, Permission.MEMBERS_VIEW, unread)
        hooks.subscribe(MirrorKind.MEMBERS, portraits.delete_orphans)
