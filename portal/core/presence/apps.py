from django.apps import AppConfig


class PresenceConfig(AppConfig):
    name = "portal.core.presence"
    label = "inside"

    def ready(self) -> None:
        from portal.core.mirror import events
        from portal.core.mirror.kinds import MirrorKind
        from portal.core.presence import hourly_counts, passages

        events.subscribe(MirrorKind.HISTORIES, passages.on_histories)
        events.subscribe(MirrorKind.HISTORIES, hourly_counts.on_histories)
        passages.register()
