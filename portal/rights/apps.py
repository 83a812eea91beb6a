from django.apps import AppConfig


class RightsConfig(AppConfig):
    name = "portal.rights"
    label = "rights"
