from django.apps import AppConfig


class IntentsConfig(AppConfig):
    name = "portal.intents"
    label = "intents"
