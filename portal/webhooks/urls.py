"""URLs for the service's notifications (outside /t/), and of the webhook's settings."""

from django.urls import path

from portal.webhooks import receiving, views

app_name = "hooks"
# One address for each tenant.
urlpatterns = [path("<str:token>/", receiving.receive, name="receive")]

# Below /t/<tenant>/connection/webhook/.
settings_urls = [
    path("", views.now, name="now"),
    path("test/", views.test, name="test"),
    path("reveal/", views.reveal, name="reveal"),
    path("<slug:what>/", views.change, name="change"),
]
