from django.apps import AppConfig


class CodesConfig(AppConfig):
    name = "portal.codes"
    label = "codes"
