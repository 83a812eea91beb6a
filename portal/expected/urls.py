"""Addresses of the expected guests' pages, below /t/<tenant>/guests/."""

from django.urls import path

from portal.domain.jobs.views import job_urls
from portal.expected import views

_LIST = "expected/<int:job_id>/"
urlpatterns = [
    path("expected/", views.index, name="expected"),
    path("expected/template-<spoken:language>.<sheet:kind>", views.template, name="expected_template"),
    path(f"{_LIST}badges.pdf", views.badge_file, name="expected_badges"),
    *views.SHEETS.urls(path_prefix=_LIST, name_prefix="expected_"),
    *job_urls(views.LIST_PAGES, "start", "stop", "continue", "discard", path_prefix=_LIST, name_prefix="expected_"),
]
