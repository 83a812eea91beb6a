from django.apps import AppConfig


class LogsConfig(AppConfig):
    name = "portal.logs"
    label = "logs"

    def ready(self) -> None:
        from portal.core.mirror import freshness
        from portal.core.mirror.kinds import Kind
        from portal.logs import searches
        from portal.logs.exports import actions

        actions.register()
        searches.register()
        freshness.shows("logs", Kind.HISTORIES)
