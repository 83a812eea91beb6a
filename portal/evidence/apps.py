from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "portal.evidence"
    label = "evidence"

    def ready(self) -> None:
        from portal.base.timers import timer_registry
        from portal.base.timers.scaled_pauses import scaled_seconds
        from portal.domain.safety import rules
        from portal.evidence import alerts, backups, exporting, fetching, panel, retention, store

        timer_registry.register(
            "evidence_media",
            fetching.DUE.check_due,
            every=scaled_seconds(2),
            queue="sync",
            due_rows=fetching.DUE.querysets,
        )
        timer_registry.register(
            "evidence_exports", exporting.DUE.check_due, every=2.0, queue="bulk", due_rows=exporting.DUE.querysets
        )
        timer_registry.register(
            "incidents_over", retention.DUE.check_due, every=600.0, queue="bulk", due_rows=retention.DUE.querysets
        )
        rules.register(retention.RETENTION_RULE)
        store.register()
        alerts.register()
        backups.register()
        panel.register()
