from django.apps import AppConfig


class BudgetConfig(AppConfig):
    name = "portal.budget"
    label = "budget"

    def ready(self) -> None:
        from portal.budget import frame

        frame.register()
