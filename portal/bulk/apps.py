from django.apps import AppConfig


class BulkConfig(AppConfig):
    name = "portal.bulk"
    label = "bulk"
