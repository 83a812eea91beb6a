from django.urls import path

from portal.evidence import item_views, views

app_name = "evidence"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("settings/", views.settings, name="settings"),
    path("<int:number>/", views.incident, name="incident"),
    path("<int:number>/edit/", views.edit, name="edit"),
    path("<int:number>/note/", views.note, name="note"),
    path("<int:number>/fetch/", views.fetch, name="fetch"),
    path("<int:number>/close/", views.close, name="close"),
    path("<int:number>/reopen/", views.reopen, name="reopen"),
    path("<int:number>/hold/", views.hold, name="hold"),
    path("<int:number>/holds/<int:pk>/end/", views.end_hold, name="end_hold"),
    path("<int:number>/delete/", views.delete, name="delete"),
    path("<int:number>/records/", item_views.records, name="records"),
    path("<int:number>/requests/", item_views.requests, name="requests"),
    path("<int:number>/picture/", item_views.picture, name="picture"),
    path("add/record/<sid:history_id>/", item_views.add_record, name="add_record"),
    path("add/access-check/", item_views.add_rights, name="add_rights"),
    path("<int:number>/items/<int:pk>/remove/", views.remove, name="remove"),
    path("<int:number>/items/<int:pk>/file/", item_views.item_file, name="file"),
    path("<int:number>/export/", views.request_export, name="export"),
    path("<int:number>/exports/<int:pk>/", views.download, name="download"),
]
