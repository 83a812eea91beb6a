from django.urls import path

from portal.keys import views

app_name = "keys"
urlpatterns = [
    path("", views.index, name="index"),
    path("<sid:key_device_id>/", views.box, name="box"),
    path("<sid:key_device_id>/status/", views.status, name="status"),
    path("<sid:key_device_id>/command/", views.command, name="command"),
    path("<sid:key_device_id>/<sid:unit_no>/", views.key, name="key"),
]
