from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "tenants"
    label = "tenants"

    def ready(self) -> None:
        from tenants import database_grants, key_rotation  # noqa: F401 - they register system checks
        from tenants.staff import account_events

        account_events.connect_signals()
