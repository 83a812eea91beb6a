from django.apps import AppConfig


class AreasConfig(AppConfig):
    name = "portal.areas"
    label = "areas"

    def ready(self) -> None:
        from portal.areas import edit_jobs, grants, queries
        from portal.domain.mirror import events, freshness
        from portal.domain.mirror.kinds import MirrorKind
        from tenants.audit_log import changes

        events.subscribe(MirrorKind.RIGHTS, grants.update)
        events.subscribe(MirrorKind.AREAS, grants.compact_tallies)
        freshness.register_footer("areas", MirrorKind.AREAS)
        edit_jobs.register()
        changes.register_words("area", queries.audit_words)
