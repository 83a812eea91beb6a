from django.apps import AppConfig


class IntercomConfig(AppConfig):
    name = "portal.intercom"
    label = "intercom"

    def ready(self) -> None:
        from portal.core.intents import asking
        from portal.core.mirror import freshness
        from portal.core.mirror.kinds import Kind
        from tenants.roles import Permission

        # Receptionists may enter little else: the footer asks for newer guests where they may.
        freshness.shows("intercom", Kind.GUESTS, refresh="guests:refresh")
        asking.mount(Permission.INTERCOM, "intercom:request_")
