from functools import partial

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.core.mirror import freshness, hooks
        from portal.core.mirror.kinds import Kind
        from portal.core.ui import palette, together
        from portal.members import follow, portraits, queries
        from tenants.roles import Permission
        from tenants.trail import queries as trail

        together.ask("groups", queries.groups_named, everywhere=False)
        follow.register()
        trail.search_by(queries.trail_of)
        unread = partial(freshness.unread, kind=Kind.MEMBERS)
        palette.register("members", _("Members"), queries.hits, Permission.MEMBERS_VIEW, unread)
        hooks.after(Kind.MEMBERS, portraits.forget_gone)
