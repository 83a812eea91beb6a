from django.apps import AppConfig


class VisitsConfig(AppConfig):
    name = "portal.core.visits"
    label = "guests"  # the prefix of its tables and migrations
