from django.urls import include, path

from portal.logs import detail_views, search_views, views

app_name = "logs"
urlpatterns = [
    path("", views.index, name="index"),
    path("happened/", views.happened, name="happened"),
    path("", include("portal.logs.exports.urls")),
    path("searches/", search_views.index, name="searches"),
    path("searches/save/", search_views.save, name="search_save"),
    path("searches/<int:search_id>/", search_views.search, name="search"),
    path("searches/<int:search_id>/delete/", search_views.delete, name="search_delete"),
    path("people/", views.people, name="people"),
    path("people/<sid:member_id>/<slug:day>/", detail_views.person_day, name="person_day"),
    path("doors/<sid:device_id>/<slug:day>/", detail_views.door_day, name="door_day"),
    path("records/<sid:history_id>/", detail_views.record, name="record"),
]
