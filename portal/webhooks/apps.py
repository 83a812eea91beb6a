from django.apps import AppConfig


class HooksConfig(AppConfig):
    name = "portal.webhooks"
    label = "hooks"
