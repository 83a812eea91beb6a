from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import Kind
        from portal.core.ui import palette, together
        from portal.members import follow, portraits, queries
        from tenants.trail import queries as trail

        together.ask("groups", queries.groups_named, everywhere=False)
        follow.register()
        trail.search_by(queries.trail_of)
        palette.register("members", _("Members"), queries.hits)
        hooks.after(Kind.MEMBERS, portraits.forget_gone)
