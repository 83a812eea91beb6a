from django.apps import AppConfig


class BudgetConfig(AppConfig):
    name = "portal.core.budget"
    label = "budget"

    def ready(self) -> None:
        from portal.core.budget import ledger, outlook
        from portal.core.timers import ticking

        outlook.register()
        ticking.register("spent_calls", ledger.forget, every=1800.0, queue="sync", seconds=60)
