from django.apps import AppConfig


class UiConfig(AppConfig):
    name = "portal.base.ui"
    label = "ui"

    def ready(self) -> None:
        from portal.base.ui import batching, nav
        from portal.base.ui.models import ListChoice
        from tenants import landing

        landing.register(nav.home_of)
        batching.register_query(
            "choices", lambda user: ListChoice.objects.filter(user=user), user=lambda request: request.user.pk
        )
