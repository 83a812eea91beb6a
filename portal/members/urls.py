from django.urls import path

from portal.members import views

app_name = "members"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("export/", views.export, name="export"),
    path("leavers/", views.review, name="leavers"),
    path("leavers/<slug:which>/", views.review, name="leavers_of"),
    path("<sid:member_id>/", views.page, name="page"),
    path("<sid:member_id>/reading/", views.reading, name="reading"),
    path("<sid:member_id>/edit/", views.edit, name="edit"),
    path("<sid:member_id>/delete/", views.delete, name="delete"),
    path("<sid:member_id>/reveal/<slug:what>/", views.reveal, name="reveal"),
    path("<sid:member_id>/one-time/", views.one_time, name="one_time"),
    path("<sid:member_id>/one-time/next/", views.one_time_next, name="one_time_next"),
    path("<sid:member_id>/face/", views.face, name="face"),
    path("<sid:member_id>/face/delete/", views.face_delete, name="face_delete"),
    path("<sid:member_id>/picture/", views.picture, name="picture"),
    path("<sid:member_id>/picture/edit/", views.picture_edit, name="picture_edit"),
    path("<sid:member_id>/keys/", views.keys, name="keys"),
]
