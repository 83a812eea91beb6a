from django.apps import AppConfig


class ExpectedConfig(AppConfig):
    name = "portal.expected"
    label = "expected"

    def ready(self) -> None:
        from portal.core.timers import ticking
        from portal.expected import bell, erasing

        erasing.register()
        ticking.register("expected", bell.DUE.look, every=3.0, queue="bulk", work=bell.DUE.work)
