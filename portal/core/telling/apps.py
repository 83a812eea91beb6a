from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "portal.core.telling"
    label = "telling"

    def ready(self) -> None:
        from portal.core.alerts import keeping
        from portal.core.restore import finding
        from portal.core.telling import accounts, loosening, sending, writing
        from portal.core.timers import ticking
        from portal.core.timers.pauses import scaled_seconds

        loosening.register()
        finding.register("alerts", sending.mark_restored)
        keeping.subscribe_to_new_alerts(writing.on_new_alerts)
        ticking.register(
            "tellings", sending.DUE.check_due, every=scaled_seconds(2), queue="sync", due_rows=sending.DUE.querysets
        )
        accounts.register()
