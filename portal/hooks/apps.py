from django.apps import AppConfig


class HooksConfig(AppConfig):
    name = "portal.hooks"
    label = "hooks"

    def ready(self) -> None:
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import MirrorKind
        from portal.hooks import alerts, follow, hints, panel

        alerts.register()
        follow.register()
        panel.register()
        hooks.subscribe(MirrorKind.HISTORIES, hints.on_histories)
        hints.register()
