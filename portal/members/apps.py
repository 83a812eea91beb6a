from django.apps import AppConfig


class MembersConfig(AppConfig):
    name = "portal.members"
    label = "members"

    def ready(self) -> None:
        from portal.members import find, follow

        follow.register()
        find.register()
