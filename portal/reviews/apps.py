from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "portal.reviews"
    label = "reviews"

    def ready(self) -> None:
        from portal.core.mirror import freshness
        from portal.core.mirror.kinds import Kind
        from portal.reviews import reminding, working

        working.register()
        reminding.register()
        freshness.shows("reviews", Kind.MEMBERS)
