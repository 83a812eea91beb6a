from django.apps import AppConfig


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import Kind
        from portal.core.ui import together
        from portal.members import find, follow, portraits, queries

        together.ask("groups", queries.groups_named, everywhere=False)
        follow.register()
        find.register()
        hooks.after(Kind.MEMBERS, portraits.forget_gone)
