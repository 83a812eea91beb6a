from django.apps import AppConfig


class BudgetConfig(AppConfig):
    name = "portal.core.budget"
    label = "budget"

    def ready(self) -> None:
        from portal.core.budget import forgetting, frame

        frame.register()
        forgetting.register()
