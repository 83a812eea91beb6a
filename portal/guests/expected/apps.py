from django.apps import AppConfig


class ExpectedConfig(AppConfig):
    name = "portal.guests.expected"
    label = "expected"

    def ready(self) -> None:
        from portal.guests.expected import erasing

        erasing.register()
