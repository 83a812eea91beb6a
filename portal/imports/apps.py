from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "portal.imports"
    label = "imports"

    def ready(self) -> None:
        from portal.core.jobs import kinds
        from portal.imports import actions

        kinds.register(actions.IMPORT)
