from django.urls import path

from portal.areas import views
from portal.domain.jobs.views import job_urls

app_name = "areas"
urlpatterns = [
    path("", views.index, name="index"),
    path("rights/load/", views.load, name="load"),
    path("<sid:area_id>/", views.area, name="area"),
    path("<sid:area_id>/members/", views.choose, name="choose"),
    path("<sid:area_id>/grant/", views.grant, name="grant"),
    path("<sid:area_id>/withdraw/", views.withdraw, name="withdraw"),
    *job_urls(
        views.EDIT_PAGES,
        "start",
        "discard",
        "undo",
        path_prefix="<sid:area_id>/edits/<int:job_id>/",
        name_prefix="edit_",
    ),
]
