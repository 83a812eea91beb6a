from django.apps import AppConfig


class VisitsConfig(AppConfig):
    name = "portal.core.visits"
    label = "guests"  # the name that its tables and migrations were made with
