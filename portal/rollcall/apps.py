from django.apps import AppConfig


class RollCallConfig(AppConfig):
    name = "portal.rollcall"
    label = "rollcall"

    def ready(self) -> None:
        from portal.core.mirror import freshness
        from portal.core.mirror.kinds import Kind
        from portal.core.timers import rounds
        from portal.rollcall import keeping

        rounds.register("roll_calls_to_be_forgotten", rounds.deleting(keeping.old), every=6 * 3600.0, queue="bulk")
        freshness.shows("rollcall", Kind.GUESTS, refresh="guests:refresh")
