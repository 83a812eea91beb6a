from django.apps import AppConfig


class AreasConfig(AppConfig):
    name = "portal.areas"
    label = "areas"

    def ready(self) -> None:
        from portal.areas import grants, queries, working
        from portal.core.mirror import freshness, hooks
        from portal.core.mirror.kinds import MirrorKind
        from tenants.trail import changes

        hooks.subscribe(MirrorKind.RIGHTS, grants.update)
        hooks.subscribe(MirrorKind.AREAS, grants.compact_tallies)
        freshness.register_footer("areas", MirrorKind.AREAS)
        working.register()
        changes.register_words("area", queries.audit_words)
