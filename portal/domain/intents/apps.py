from django.apps import AppConfig


class IntentsConfig(AppConfig):
    name = "portal.domain.intents"
    label = "intents"

    def ready(self) -> None:
        from portal.domain.intents import due_intents

        due_intents.register()
