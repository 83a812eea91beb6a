from django.apps import AppConfig


class IntentsConfig(AppConfig):
    name = "portal.core.intents"
    label = "intents"
