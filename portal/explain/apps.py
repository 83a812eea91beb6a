from django.apps import AppConfig


class ExplainConfig(AppConfig):
    name = "portal.explain"
    label = "explain"
