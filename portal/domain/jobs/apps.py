from django.apps import AppConfig


class BulkConfig(AppConfig):
    name = "portal.domain.jobs"
    label = "bulk"  # its tables and migrations were created under this name
