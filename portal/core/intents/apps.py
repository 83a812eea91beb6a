from django.apps import AppConfig


class IntentsConfig(AppConfig):
    name = "portal.core.intents"
    label = "intents"

    def ready(self) -> None:
        from portal.core.intents import due_intents

        due_intents.register()
