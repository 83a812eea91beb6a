from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests"

    def ready(self) -> None:
        from portal.guests.today import reach

        reach.register()
