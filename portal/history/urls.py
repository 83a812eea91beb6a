from django.urls import path

from portal.domain.jobs.views import job_urls
from portal.history import views

app_name = "history"
_EXPORT = "exports/<int:job_id>/"
urlpatterns = [
    path("", views.index, name="index"),
    path("happened/", views.happened, name="happened"),
    path("exports/", views.export_list, name="exports"),
    path("exports/new/", views.new_export, name="export"),
    path(f"{_EXPORT}file/", views.export_file, name="export_file"),
    *job_urls(views.EXPORTS, "stop", "continue", path_prefix=_EXPORT, name_prefix="export_"),
    path("searches/", views.search_list, name="searches"),
    path("searches/save/", views.save_search, name="search_save"),
    path("searches/<int:search_id>/", views.search, name="search"),
    path("searches/<int:search_id>/delete/", views.delete_search, name="search_delete"),
    path("people/", views.people, name="people"),
    path("people/<sid:member_id>/<slug:day>/", views.person_day, name="person_day"),
    path("doors/<sid:device_id>/<slug:day>/", views.door_day, name="door_day"),
    path("records/<sid:history_id>/", views.record, name="record"),
]
