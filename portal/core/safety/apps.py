from django.apps import AppConfig


class SafetyConfig(AppConfig):
    name = "portal.core.safety"
    label = "safety"

    def ready(self) -> None:
        from portal.core.safety import changing, frame
        from portal.core.timers import timer_registry

        frame.register()
        timer_registry.register(
            "safety_changes", changing.DUE.check_due, every=60.0, queue="sync", due_rows=changing.DUE.querysets
        )
