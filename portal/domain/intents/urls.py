from django.urls import URLPattern, path

from portal.domain.intents import views
from tenants.roles import Permission

app_name = "intents"


def intent_urls(permission: Permission, *, of: Permission | None = None, prefix: str = "") -> list[URLPattern]:
    """Return the four pages of an intent for staff with `permission`; with `of`, only of intents with that one.

    An area of work that mounts them also calls `form_handling.mount_pages`.
    """
    page, outcome, decide, stop = views.intent_views(permission, of)
    return [
        path("<int:intent_id>/", page, name=f"{prefix}page"),
        path("<int:intent_id>/outcome/", outcome, name=f"{prefix}outcome"),
        path("<int:intent_id>/decide/", decide, name=f"{prefix}decide"),
        path("<int:intent_id>/stop/", stop, name=f"{prefix}stop"),
    ]


urlpatterns = [path("", views.index, name="index"), *intent_urls(Permission.TENANT_VIEW)]
