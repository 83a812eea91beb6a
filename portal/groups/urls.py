from django.urls import path

from portal.groups import views

app_name = "groups"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("<sid:membergroup_id>/", views.group, name="group"),
    path("<sid:membergroup_id>/rename/", views.rename, name="rename"),
]
