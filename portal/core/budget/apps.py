from django.apps import AppConfig


class BudgetConfig(AppConfig):
    name = "portal.core.budget"
    label = "budget"

    def ready(self) -> None:
        from portal.core.budget import ledger, quota
        from portal.core.timers import rounds

        quota.register()
        rounds.register(
            "spent_calls", rounds.delete_steps(ledger.expired_steps), every=1800.0, queue="sync", seconds=60
        )
