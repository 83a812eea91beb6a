from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "portal.reviews"
    label = "reviews"

    def ready(self) -> None:
        from portal.domain.mirror import freshness
        from portal.domain.mirror.kinds import MirrorKind
        from portal.reviews import reminding, review_worker

        review_worker.register()
        reminding.register()
        freshness.register_footer("reviews", MirrorKind.MEMBERS)
