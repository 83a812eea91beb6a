from django.apps import AppConfig
from django.core import checks


class TenantsConfig(AppConfig):
    name = "tenants"
    label = "tenants"

    def ready(self) -> None:
        from tenants import key_rotation
        from tenants.postgresql import grants
        from tenants.staff import account_events

        checks.register(key_rotation.check_vault_keys, checks.Tags.database)
        checks.register(grants.check_site_role, checks.Tags.database)
        account_events.connect_signals()
