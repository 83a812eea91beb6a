from django.urls import path

from portal.members.views import credentials, members

app_name = "members"
urlpatterns = [
    path("", members.index, name="index"),
    path("new/", members.new, name="new"),
    path("export/", members.export, name="export"),
    path("leavers/", members.review, name="leavers"),
    path("leavers/<slug:which>/", members.review, name="leavers_of"),
    path("<sid:member_id>/", members.page, name="page"),
    path("<sid:member_id>/reading/", members.reading, name="reading"),
    path("<sid:member_id>/edit/", members.edit, name="edit"),
    path("<sid:member_id>/delete/", members.delete, name="delete"),
    path("<sid:member_id>/reveal/<slug:what>/", credentials.reveal, name="reveal"),
    path("<sid:member_id>/one-time/", credentials.one_time, name="one_time"),
    path("<sid:member_id>/one-time/next/", credentials.one_time_next, name="one_time_next"),
    path("<sid:member_id>/face/", credentials.face, name="face"),
    path("<sid:member_id>/face/delete/", credentials.face_delete, name="face_delete"),
    path("<sid:member_id>/picture/", credentials.picture, name="picture"),
    path("<sid:member_id>/picture/edit/", credentials.picture_edit, name="picture_edit"),
    path("<sid:member_id>/keys/", credentials.keys, name="keys"),
]
