from django.apps import AppConfig


class ExpectedConfig(AppConfig):
    name = "portal.expected"
    label = "expected"

    def ready(self) -> None:
        from portal.expected import erasing

        erasing.register()
