from django.apps import AppConfig


class TodayConfig(AppConfig):
    name = "portal.today"
    label = "today"

    def ready(self) -> None:
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import Kind
        from portal.today import erasing, reach, suggesting

        reach.register()
        erasing.register()
        hooks.after(Kind.HISTORIES, suggesting.heard)
        hooks.after(Kind.GUESTS, suggesting.catch_up)
