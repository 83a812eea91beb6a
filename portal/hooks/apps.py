from django.apps import AppConfig


class HooksConfig(AppConfig):
    name = "portal.hooks"
    label = "hooks"

    def ready(self) -> None:
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import Kind
        from portal.hooks import alerts, follow, hints, panel

        alerts.register()
        follow.register()
        panel.register()
        hooks.after(Kind.HISTORIES, hints.heard)
        hints.register()
