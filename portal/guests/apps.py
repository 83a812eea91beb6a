from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests_pages"  # the models of visits are a foundation's

    def ready(self) -> None:
        from portal.core.restore import finding
        from portal.core.timers import ticking
        from portal.guests import cutting, follow, frame, naming
        from tenants.signals import connected

        finding.register_timer("codes", cutting.unconfirmed_visits, "cut_due_at")
        follow.register()
        frame.register()
        naming.register()
        ticking.register(
            "codes_that_must_die", cutting.DUE.check_due, every=2.0, queue="interactive", due_rows=cutting.DUE.querysets
        )
        connected.connect(cutting.on_connected, dispatch_uid="guests")
