from django.apps import AppConfig


class InsideConfig(AppConfig):
    name = "portal.core.inside"
    label = "inside"

    def ready(self) -> None:
        from portal.core.inside import hours, passages
        from portal.core.mirror import hooks
        from portal.core.mirror.kinds import Kind
        from portal.core.timers import ticking

        hooks.after(Kind.HISTORIES, passages.heard)
        hooks.after(Kind.HISTORIES, hours.heard)
        ticking.register("passages_taken_again", passages.look, every=600.0, queue="sync", seconds=60)
