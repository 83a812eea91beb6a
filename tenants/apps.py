from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "tenants"
    label = "tenants"

    def ready(self) -> None:
        from tenants import checks  # noqa: F401 - registers them
        from tenants.staff import account_events

        account_events.connect_signals()
