"""The mirror as a Django app."""

from django.apps import AppConfig


class MirrorConfig(AppConfig):
    name = "portal.core.mirror"
    label = "mirror"

    def ready(self) -> None:
        from portal.core.mirror import freshness, keys, months, schedule
        from portal.core.mirror.fields.guests import GUEST
        from portal.core.mirror.fields.members import MEMBER, MEMBERGROUP
        from tenants.signals import connected
        from tenants.trail import changes

        connected.connect(schedule.on_connected, dispatch_uid="mirror")
        schedule.register()
        months.register()
        freshness.register()
        keys.register()
        for kind, fields in (("member", MEMBER), ("guest", GUEST), ("membergroup", MEMBERGROUP)):
            changes.register_labels(kind, fields.label_of)
