from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests"

    def ready(self) -> None:
        from portal.guests import banners, find, follow, today

        follow.register()
        banners.register()
        find.register()
        today.register()
