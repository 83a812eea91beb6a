from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "portal.evidence"
    label = "evidence"

    def ready(self) -> None:
        from portal.core.safety import rules
        from portal.core.timers import ticking
        from portal.core.timers.pauses import seconds
        from portal.evidence import alerts, backups, exporting, fetching, panel, retention, store

        ticking.register("evidence_media", fetching.DUE.look, every=seconds(2), queue="sync", work=fetching.DUE.work)
        ticking.register("evidence_exports", exporting.DUE.look, every=2.0, queue="bulk", work=exporting.DUE.work)
        ticking.register("incidents_over", retention.DUE.look, every=600.0, queue="bulk", work=retention.DUE.work)
        rules.register(retention.RULE)
        store.register()
        alerts.register()
        backups.register()
        panel.register()
