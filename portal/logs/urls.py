from django.urls import include, path

from portal.logs import pages, saved, views

app_name = "logs"
urlpatterns = [
    path("", views.index, name="index"),
    path("happened/", views.happened, name="happened"),
    path("", include("portal.logs.exports.urls")),
    path("searches/", saved.index, name="searches"),
    path("searches/save/", saved.save, name="search_save"),
    path("searches/<int:search_id>/", saved.search, name="search"),
    path("searches/<int:search_id>/delete/", saved.delete, name="search_delete"),
    path("people/", views.people, name="people"),
    path("people/<sid:member_id>/<slug:day>/", pages.person_day, name="person_day"),
    path("doors/<sid:device_id>/<slug:day>/", pages.door_day, name="door_day"),
    path("records/<sid:history_id>/", pages.record, name="record"),
]
