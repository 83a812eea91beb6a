from django.apps import AppConfig


class AreasConfig(AppConfig):
    name = "portal.areas"
    label = "areas"
