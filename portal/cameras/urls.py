from django.urls import path

from portal.cameras import views

app_name = "cameras"
urlpatterns = [
    path("", views.index, name="index"),
    path("clips/<sid:history_id>/", views.clip, name="clip"),
    path("new/", views.new, name="new"),
    path("settings/", views.settings, name="settings"),
    path("at-door/<sid:device_id>/", views.at_door, name="at_door"),
    path("<sid:camera_id>/", views.camera, name="camera"),
    path("<sid:camera_id>/status/", views.status, name="status"),
    path("<sid:camera_id>/edit/", views.edit, name="edit"),
    path("<sid:camera_id>/remove/", views.remove, name="remove"),
    path("<sid:camera_id>/picture/<int:pk>/<str:mark>/", views.picture, name="picture"),
    path("<sid:camera_id>/picture-at/", views.picture_at, name="picture_at"),
    path("<sid:camera_id>/live/", views.live, name="live"),
    path("<sid:camera_id>/recording/", views.recording, name="recording"),
    path("<sid:camera_id>/viewing/<int:pk>/go-on/", views.continue_live, name="go_on"),
    path("<sid:camera_id>/viewing/<int:pk>/stop/", views.stop, name="stop"),
]
