from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "portal.reviews"
    label = "reviews"

    def ready(self) -> None:
        from portal.core.mirror import freshness
        from portal.core.mirror.kinds import MirrorKind
        from portal.reviews import reminding, working

        working.register()
        reminding.register()
        freshness.register_footer("reviews", MirrorKind.MEMBERS)
