"""The mirror as a Django app."""

from django.apps import AppConfig


class MirrorConfig(AppConfig):
    name = "portal.mirror"
    label = "mirror"

    def ready(self) -> None:
        from portal.mirror import frame, schedule
        from tenants.signals import connected

        connected.connect(schedule.on_connected, dispatch_uid="mirror")
        frame.register()
