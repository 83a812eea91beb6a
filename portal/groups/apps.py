from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "portal.groups"
    label = "groups"

    def ready(self) -> None:
        from portal.groups import follow

        follow.register()
