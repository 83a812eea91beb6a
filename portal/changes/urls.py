from django.urls import path

from portal.changes import views
from portal.domain.jobs.views import job_urls

app_name = "changes"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/<slug:change_name>/", views.new, name="ask"),
    *job_urls(views.CHANGE_PAGES, "start", "stop", "continue", "retry", "undo", "decide", "discard"),
]
