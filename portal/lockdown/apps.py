from django.apps import AppConfig


class LockdownConfig(AppConfig):
    name = "portal.lockdown"
    label = "lockdown"

    def ready(self) -> None:
        from portal.lockdown import frame, keeping, retrying

        frame.register()
        keeping.register()
        retrying.register()
