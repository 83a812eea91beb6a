"""URLs of the desk: guests, the month, and shared pages that receptionists need."""

from django.urls import URLPattern, URLResolver, include, path

from portal.base.ui.views import banners_view, palette_view
from portal.domain.events import MirrorKind
from portal.domain.intents.urls import intent_urls
from portal.domain.sync.views import refresh_view
from portal.today import views
from tenants.roles import Permission

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.today, name="index"),
    path("board/", views.board, name="board"),
    path("visits/<int:visit_id>/presence/<slug:step>/", views.step, name="step"),
    path("undo/", views.undo, name="undo"),
    path("overdue/left/", views.close, name="close"),
    path("by-host/", views.by_host, name="by_host"),
    path("building/", views.in_the_building, name="building"),
    path("building/board/", views.building_board, name="building_board"),
    path("building/<slug:kind>/", views.building_file, name="building_file"),
    path("month/", views.month, name="month"),
    path("month/<slug:kind>/", views.month_file, name="month_file"),
    path("settings/", views.settings, name="settings"),
    path("requests/", include(intent_urls(Permission.GUESTS_VIEW, of=Permission.GUESTS_DESK, prefix="request_"))),
    path(
        "refresh/<slug:kind>/",
        refresh_view(Permission.GUESTS_VIEW, (MirrorKind.GUESTS, MirrorKind.HISTORIES)),
        name="refresh",
    ),
    path("find/", palette_view(Permission.GUESTS_VIEW), name="find"),
    path("banners/", banners_view(Permission.GUESTS_VIEW), name="banners"),
]
