from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "portal.imports"
    label = "imports"

    def ready(self) -> None:
        from portal.domain.jobs import kinds
        from portal.imports import actions

        kinds.register(actions.IMPORT)
