"""URLs of roll calls: start, check-offs, end and report."""

from django.urls import path

from portal.rollcall import views

app_name = "rollcall"
urlpatterns = [
    path("", views.index, name="index"),
    path("start/", views.start, name="start"),
    path("<int:call_id>/", views.page, name="page"),
    path("<int:call_id>/state/", views.state, name="state"),
    path("<int:call_id>/ticks/", views.ticks, name="ticks"),
    path("<int:call_id>/people/", views.add, name="add"),
    path("<int:call_id>/end/", views.end, name="end"),
    path("<int:call_id>/worker.js", views.worker, name="worker"),
    path("<int:call_id>/report/", views.report, name="report"),
]
