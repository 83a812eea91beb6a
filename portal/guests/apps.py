from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests_pages"  # the models of visits are in an app named "guests" already

    def ready(self) -> None:
        from portal.base.restore import marking
        from portal.base.timers import timer_registry
        from portal.guests import deactivation, follow, frame, naming
        from tenants.signals import connected

        marking.register_timer("codes", deactivation.unconfirmed_visits, "cut_due_at")
        follow.register()
        frame.register()
        naming.register()
        timer_registry.register(
            "codes_that_must_die",
            deactivation.DUE.check_due,
            every=2.0,
            queue="interactive",
            due_rows=deactivation.DUE.querysets,
        )
        connected.connect(deactivation.on_connected, dispatch_uid="guests")
