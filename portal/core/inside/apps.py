from django.apps import AppConfig


class InsideConfig(AppConfig):
    name = "portal.core.inside"
    label = "inside"

    def ready(self) -> None:
        from portal.core.inside import hours, passages
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import Kind

        hooks.after(Kind.HISTORIES, passages.heard)
        hooks.after(Kind.HISTORIES, hours.heard)
        passages.register()
