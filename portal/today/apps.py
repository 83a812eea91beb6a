from django.apps import AppConfig


class TodayConfig(AppConfig):
    name = "portal.today"
    label = "today"

    def ready(self) -> None:
        from portal.core.intents import asking
        from portal.core.mirror import freshness, hooks
        from portal.core.mirror.kinds import Kind
        from portal.core.safety import rules
        from portal.core.ui import nav
        from portal.today import actions, erasing, suggesting
        from tenants.roles import Permission

        # A receptionist may enter nothing else of the tenant: what stands elsewhere for everybody is mounted here, too.
        nav.also_at("find", Permission.GUESTS_VIEW, "guests:find")
        nav.also_at("banners", Permission.GUESTS_VIEW, "guests:banners")
        freshness.shows("guests", Kind.GUESTS, refresh="guests:refresh")
        asking.mount(Permission.GUESTS_DESK, "guests:request_")
        rules.register(actions.RULE)
        erasing.register()
        hooks.after(Kind.HISTORIES, suggesting.heard)
        hooks.after(Kind.GUESTS, suggesting.catch_up)
