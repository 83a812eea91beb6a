from django.apps import AppConfig


class HomeConfig(AppConfig):
    name = "portal.home"
    label = "home"

    def ready(self) -> None:
        from portal.home import banners

        banners.register()
