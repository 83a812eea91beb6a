from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "portal.reports"
    label = "reports"

    def ready(self) -> None:
        from portal.reports import keeping, making, scheduling

        keeping.register()
        making.register()
        scheduling.register()
