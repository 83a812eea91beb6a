from django.apps import AppConfig


class ExpectedConfig(AppConfig):
    name = "portal.guests.expected"
    label = "expected"
