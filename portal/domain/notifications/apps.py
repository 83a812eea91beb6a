from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "portal.domain.notifications"
    label = "telling"
