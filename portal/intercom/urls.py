from django.urls import include, path

from portal.domain.intents.urls import intent_urls
from portal.intercom import views
from tenants.roles import Permission

app_name = "intercom"
urlpatterns = [
    path("", views.index, name="index"),
    # The same requests are shown on the doors' pages to people who may see those, including auditors.
    path("requests/", include(intent_urls(Permission.BUILDING_VIEW, of=Permission.INTERCOM, prefix="request_"))),
    path("<sid:camera_id>/", views.camera, name="camera"),
    path("<sid:camera_id>/picture/<int:pk>/<str:mark>/", views.picture, name="picture"),
    path("<sid:camera_id>/live/", views.live, name="live"),
    path("<sid:camera_id>/viewing/<int:pk>/go-on/", views.go_on, name="go_on"),
    path("<sid:camera_id>/viewing/<int:pk>/stop/", views.stop, name="stop"),
    path("<sid:camera_id>/doors/<sid:device_id>/unlock/", views.unlock, name="unlock"),
]
