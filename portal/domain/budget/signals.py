"""Register the app's parts that other apps run or show."""

from portal.base.timers import rounds
from portal.domain.budget import ledger, quota

quota.register()
rounds.register("spent_calls", rounds.delete_steps(ledger.expired_steps), every=1800.0, queue="sync", seconds=60)
