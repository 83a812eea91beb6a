from django.apps import AppConfig


class HooksConfig(AppConfig):
    name = "portal.webhooks"
    label = "hooks"

    def ready(self) -> None:
        from portal.domain.mirror import events
        from portal.domain.mirror.kinds import MirrorKind
        from portal.webhooks import alerts, follow, panel, processing

        alerts.register()
        follow.register()
        panel.register()
        events.subscribe(MirrorKind.HISTORIES, processing.on_histories)
        processing.register()
