from django.urls import path

from portal.members import views

app_name = "members"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("export/", views.export, name="export"),
    path("<sid:member_id>/", views.page, name="page"),
    path("<sid:member_id>/reading/", views.reading, name="reading"),
    path("<sid:member_id>/edit/", views.edit, name="edit"),
    path("<sid:member_id>/delete/", views.delete, name="delete"),
    path("<sid:member_id>/reveal/<slug:what>/", views.reveal, name="reveal"),
]
