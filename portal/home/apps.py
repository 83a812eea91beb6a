from django.apps import AppConfig


class HomeConfig(AppConfig):
    name = "portal.home"
    label = "home"

    def ready(self) -> None:
        from portal.base.ui import frame
        from portal.home import presence_summary, queries
        from portal.home.views import connection_lost

        frame.register_banners(connection_lost)
        presence_summary.register()
        queries.register()
