"""URLs of exports, below those of the log."""

from django.urls import path

from portal.domain.jobs.views import job_urls
from portal.logs.exports import views

_EXPORT = "exports/<int:job_id>/"
urlpatterns = [
    path("exports/", views.index, name="exports"),
    path("exports/new/", views.ask, name="export"),
    path(f"{_EXPORT}file/", views.file, name="export_file"),
    *job_urls(views.EXPORTS, "stop", "continue", path_prefix=_EXPORT, name_prefix="export_"),
]
