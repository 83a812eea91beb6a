from django.apps import AppConfig


class LogConfig(AppConfig):
    name = "portal.core.log"
    label = "log"
