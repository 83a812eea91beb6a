"""The mirror as a Django app."""

from django.apps import AppConfig


class MirrorConfig(AppConfig):
    name = "portal.core.mirror"
    label = "mirror"

    def ready(self) -> None:
        from portal.core.mirror import freshness, schedule
        from tenants.signals import connected

        connected.connect(schedule.on_connected, dispatch_uid="mirror")
        schedule.register()
        freshness.register()
