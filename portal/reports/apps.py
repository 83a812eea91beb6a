from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "portal.reports"
    label = "reports"

    def ready(self) -> None:
        from portal.reports import creating, keeping, scheduling

        keeping.register()
        creating.register()
        scheduling.register()
