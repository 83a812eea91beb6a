from django.apps import AppConfig


class TimersConfig(AppConfig):
    name = "portal.core.timers"
    label = "timers"
