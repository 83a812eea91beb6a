"""Register the app's parts that other apps run or show."""

from portal.base.timers import rounds
from portal.domain.mirror import freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.rollcall import keeping

rounds.register(
    "roll_calls_to_be_forgotten", rounds.delete_steps(keeping.old_roll_calls), every=6 * 3600.0, queue="bulk"
)
freshness.register_footer("rollcall", MirrorKind.GUESTS, refresh_url_name="guests:refresh")
