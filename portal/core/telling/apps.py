from django.apps import AppConfig


class TellingConfig(AppConfig):
    name = "portal.core.telling"
    label = "telling"

    def ready(self) -> None:
        from portal.core.alerts import keeping
        from portal.core.restore import finding
        from portal.core.telling import accounts, loosening, sending, writing
        from portal.core.timers import ticking
        from portal.core.timers.pauses import seconds

        loosening.register()
        finding.register("alerts", sending.mark_restored)
        keeping.when_begun(writing.begun)
        ticking.register("tellings", sending.DUE.look, every=seconds(2), queue="sync", work=sending.DUE.work)
        accounts.register()
