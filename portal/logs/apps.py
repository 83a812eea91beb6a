from django.apps import AppConfig


class LogsConfig(AppConfig):
    name = "portal.logs"
    label = "logs"

    def ready(self) -> None:
        from portal.domain.mirror import freshness
        from portal.domain.mirror.kinds import MirrorKind
        from portal.logs import searches
        from portal.logs.exports import actions

        actions.register()
        searches.register()
        freshness.register_footer("logs", MirrorKind.HISTORIES)
