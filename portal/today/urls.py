"""The desk's day: who comes, who is here, the month, and what a receptionist needs of the rest of the portal."""

from django.urls import URLPattern, URLResolver, include, path

from portal.core.intents.urls import under
from portal.core.mirror.views import refreshing
from portal.core.ui.views import finding, watching_banners
from portal.today import views, views_lists
from portal.today.reach import SHOWN
from tenants.roles import Permission

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.today, name="index"),
    path("board/", views.board, name="board"),
    path("visits/<int:visit_id>/presence/<slug:step>/", views.step, name="step"),
    path("undo/", views.undo, name="undo"),
    path("overdue/left/", views.close, name="close"),
    path("by-host/", views_lists.by_host, name="by_host"),
    path("building/", views_lists.in_the_building, name="building"),
    path("building/<slug:kind>/", views_lists.building_file, name="building_file"),
    path("month/", views_lists.month, name="month"),
    path("month/<slug:kind>/", views_lists.month_file, name="month_file"),
    path("settings/", views_lists.settings, name="settings"),
    path("requests/", include(under(Permission.GUESTS_VIEW, of=Permission.GUESTS_DESK, prefix="request_"))),
    path("refresh/<slug:kind>/", refreshing(Permission.GUESTS_VIEW, SHOWN), name="refresh"),
    path("find/", finding(Permission.GUESTS_VIEW), name="find"),
    path("banners/", watching_banners(Permission.GUESTS_VIEW), name="banners"),
]
