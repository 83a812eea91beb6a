from django.apps import AppConfig


class LockdownConfig(AppConfig):
    name = "portal.lockdown"
    label = "lockdown"

    def ready(self) -> None:
        from portal.lockdown import frame, keeping, standing

        frame.register()
        keeping.register()
        standing.register()
