from django.apps import AppConfig


class PresenceConfig(AppConfig):
    name = "portal.domain.presence"
    label = "inside"
