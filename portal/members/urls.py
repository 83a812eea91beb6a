from django.urls import path

from portal.members import key_views, leaver_views, picture_views, views

app_name = "members"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("export/", views.export, name="export"),
    path("leavers/", leaver_views.index, name="leavers"),
    path("leavers/<slug:which>/", leaver_views.index, name="leavers_of"),
    path("<sid:member_id>/", views.page, name="page"),
    path("<sid:member_id>/reading/", views.reading, name="reading"),
    path("<sid:member_id>/edit/", views.edit, name="edit"),
    path("<sid:member_id>/delete/", views.delete, name="delete"),
    path("<sid:member_id>/reveal/<slug:what>/", views.reveal, name="reveal"),
    path("<sid:member_id>/one-time/", key_views.one_time, name="one_time"),
    path("<sid:member_id>/one-time/next/", key_views.one_time_next, name="one_time_next"),
    path("<sid:member_id>/face/", picture_views.face, name="face"),
    path("<sid:member_id>/face/delete/", picture_views.face_delete, name="face_delete"),
    path("<sid:member_id>/picture/", picture_views.picture, name="picture"),
    path("<sid:member_id>/picture/edit/", picture_views.picture_edit, name="picture_edit"),
    path("<sid:member_id>/keys/", key_views.keys, name="keys"),
]
