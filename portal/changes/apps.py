from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "portal.changes"
    label = "changes"

    def ready(self) -> None:
        from portal.changes import actions

        actions.register()
