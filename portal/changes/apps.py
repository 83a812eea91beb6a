from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "portal.changes"
    label = "changes"
