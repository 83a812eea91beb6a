from django.apps import AppConfig


class VisitsConfig(AppConfig):
    name = "portal.domain.visits"
    label = "guests"  # the prefix of its tables and migrations
