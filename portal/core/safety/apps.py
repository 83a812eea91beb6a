from django.apps import AppConfig


class SafetyConfig(AppConfig):
    name = "portal.core.safety"
    label = "safety"

    def ready(self) -> None:
        from portal.core.safety import changing, frame
        from portal.core.timers import ticking

        frame.register()
        ticking.register("safety_changes", changing.DUE.look, every=60.0, queue="sync", work=changing.DUE.work)
