from django.apps import AppConfig


class TimersConfig(AppConfig):
    name = "portal.base.timers"
    label = "timers"
