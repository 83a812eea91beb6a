from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests"

    def ready(self) -> None:
        from portal.guests import banners, find, follow
        from portal.guests.today import reach

        follow.register()
        banners.register()
        find.register()
        reach.register()
