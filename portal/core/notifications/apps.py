from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "portal.core.notifications"
    label = "telling"

    def ready(self) -> None:
        from portal.core.alerts import lifecycle
        from portal.core.notifications import account_mails, queueing, safety_rules, sending
        from portal.core.restore import marking
        from portal.core.timers import timer_registry
        from portal.core.timers.scaled_pauses import scaled_seconds

        safety_rules.register()
        marking.register("alerts", sending.mark_restored)
        lifecycle.subscribe_to_new_alerts(queueing.on_new_alerts)
        timer_registry.register(
            "tellings", sending.DUE.check_due, every=scaled_seconds(2), queue="sync", due_rows=sending.DUE.querysets
        )
        account_mails.register()
