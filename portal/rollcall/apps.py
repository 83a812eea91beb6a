from django.apps import AppConfig


class RollCallConfig(AppConfig):
    name = "portal.rollcall"
    label = "rollcall"

    def ready(self) -> None:
        from portal.core.timers import ticking
        from portal.rollcall import keeping

        ticking.register("roll_calls_to_be_forgotten", keeping.tidy, every=6 * 3600.0, queue="bulk")
