from django.apps import AppConfig


class PresenceConfig(AppConfig):
    name = "portal.core.inside"
    label = "inside"

    def ready(self) -> None:
        from portal.core.inside import hours, passages
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import MirrorKind

        hooks.subscribe(MirrorKind.HISTORIES, passages.on_histories)
        hooks.subscribe(MirrorKind.HISTORIES, hours.on_histories)
        passages.register()
