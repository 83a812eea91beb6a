"""The desk's day: who comes, who is here, the month, and what a receptionist needs of the rest of the portal."""

from django.urls import URLPattern, URLResolver, include, path

from portal.guests.today import views
from portal.guests.today.reach import SHOWN
from portal.intents.urls import under
from portal.mirror.views import refreshing
from portal.ui.views import finding
from tenants.roles import Permission

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.today, name="index"),
    path("requests/", include(under(Permission.GUESTS_VIEW, of=Permission.GUESTS_DESK, prefix="request_"))),
    path("refresh/<slug:kind>/", refreshing(Permission.GUESTS_VIEW, SHOWN), name="refresh"),
    path("find/", finding(Permission.GUESTS_VIEW), name="find"),
]
