from django.urls import path

from portal.devices import views

app_name = "devices"
urlpatterns = [
    path("", views.index, name="index"),
    path("wall/", views.wall, name="wall"),
    path("<sid:device_id>/", views.door, name="door"),
    path("<sid:device_id>/status/", views.status, name="status"),
    path("<sid:device_id>/command/", views.command, name="command"),
]
