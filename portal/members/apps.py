from django.apps import AppConfig


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.members import find, follow, portraits, queries
        from portal.mirror import hooks
        from portal.mirror.kinds import Kind
        from portal.ui import together

        together.ask("groups", queries.groups_named, everywhere=False)
        follow.register()
        find.register()
        hooks.after(Kind.MEMBERS, portraits.forget_gone)
