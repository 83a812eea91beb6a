"""The URLs of readings, under /t/<tenant>/mirror/."""

from django.urls import path

from portal.domain.mirror import views

urlpatterns = [path("refresh/<slug:kind>/", views.refresh, name="refresh")]
