"""The mirror's URLs, under /t/<tenant>/mirror/."""

from django.urls import path

from portal.domain.mirror import views

app_name = "mirror"
urlpatterns = [
    path("refresh/<slug:kind>/", views.refresh, name="refresh"),
    path("days/", views.load_days, name="days"),
]
