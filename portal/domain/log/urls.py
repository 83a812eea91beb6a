"""The URLs of the log's readings, under /t/<tenant>/mirror/."""

from django.urls import path

from portal.domain.log import views

urlpatterns = [path("days/", views.load_days, name="days")]
