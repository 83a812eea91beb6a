"""Addresses of exports, below those of the log."""

from django.urls import path

from portal.core.jobs.views import under
from portal.logs.exports import views

_EXPORT = "exports/<int:job_id>/"
urlpatterns = [
    path("exports/", views.index, name="exports"),
    path("exports/new/", views.ask, name="export"),
    path(f"{_EXPORT}file/", views.file, name="export_file"),
    *under(views.EXPORTS, "stop", "continue", at=_EXPORT, prefix="export_"),
]
