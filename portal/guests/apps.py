from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests"

    def ready(self) -> None:
        from portal.guests import banners, cutting, find, follow, naming, today
        from tenants.signals import connected

        follow.register()
        banners.register()
        find.register()
        naming.register()
        today.register()
        connected.connect(cutting.on_connected, dispatch_uid="guests")
