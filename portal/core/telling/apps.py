from django.apps import AppConfig


class TellingConfig(AppConfig):
    name = "portal.core.telling"
    label = "telling"

    def ready(self) -> None:
        from portal.core.alerts import keeping
        from portal.core.telling import sending, writing
        from portal.core.timers import ticking

        keeping.when_begun(writing.begun)
        ticking.register("tellings", sending.DUE.look, every=2.0, queue="sync", work=sending.DUE.work)
