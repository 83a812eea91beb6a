from django.apps import AppConfig


class AreasConfig(AppConfig):
    name = "portal.areas"
    label = "areas"

    def ready(self) -> None:
        from portal.areas import grants, queries, working
        from portal.core.mirror import freshness, hooks
        from portal.core.mirror.kinds import Kind
        from tenants.trail import changes

        hooks.after(Kind.RIGHTS, grants.file)
        hooks.after(Kind.AREAS, grants.tidy)
        freshness.shows("areas", Kind.AREAS)
        working.register()
        changes.word("area", queries.in_words)
