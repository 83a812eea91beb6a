from django.urls import path

from portal.changes import views
from portal.core.jobs.views import under

app_name = "changes"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/<slug:act>/", views.ask, name="ask"),
    *under(views.JOBS, "start", "stop", "continue", "retry", "undo", "decide", "discard"),
]
