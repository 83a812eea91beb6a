from django.urls import path

from portal.domain.jobs.views import job_urls
from portal.imports import views

app_name = "imports"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("template/<spoken:language>.<sheet:kind>", views.template, name="template"),
    *views.SHEETS.urls(),
    *job_urls(views.JOBS, "start", "stop", "continue", "retry", "undo", "decide", "discard"),
]
