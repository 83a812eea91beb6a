from django.apps import AppConfig


class BudgetConfig(AppConfig):
    name = "portal.domain.budget"
    label = "budget"

    def ready(self) -> None:
        from portal.base.timers import rounds
        from portal.domain.budget import ledger, quota

        quota.register()
        rounds.register(
            "spent_calls", rounds.delete_steps(ledger.expired_steps), every=1800.0, queue="sync", seconds=60
        )
