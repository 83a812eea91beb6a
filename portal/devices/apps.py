from django.apps import AppConfig


class DevicesConfig(AppConfig):
    name = "portal.devices"
    label = "devices"

    def ready(self) -> None:
        from portal.devices import banners, find, follow, hearing, watch

        follow.register()
        find.register()
        banners.register()
        hearing.register()
        watch.register()
