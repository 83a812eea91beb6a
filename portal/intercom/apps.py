from django.apps import AppConfig


class IntercomConfig(AppConfig):
    name = "portal.intercom"
    label = "intercom"

    def ready(self) -> None:
        from portal.domain.intents import form_handling
        from portal.domain.mirror import freshness
        from portal.domain.mirror.kinds import MirrorKind
        from tenants.roles import Permission

        # Receptionists have few pages, so the footer here refreshes the list of guests.
        freshness.register_footer("intercom", MirrorKind.GUESTS, refresh_url_name="guests:refresh")
        form_handling.mount_pages(Permission.INTERCOM, "intercom:request_")
