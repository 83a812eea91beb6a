from django.apps import AppConfig


class HomeConfig(AppConfig):
    name = "portal.home"
    label = "home"

    def ready(self) -> None:
        from portal.core.ui import frame
        from portal.home import inside, queries
        from portal.home.views import connection_lost

        frame.register_banners(connection_lost)
        inside.register()
        queries.register()
