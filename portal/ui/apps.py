from django.apps import AppConfig


class UiConfig(AppConfig):
    name = "portal.ui"
    label = "ui"

    def ready(self) -> None:
        from portal.ui import nav
        from tenants import landing

        landing.register(nav.home_of)
