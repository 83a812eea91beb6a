"""URLs for the service's notifications (outside /t/), and of the webhook's settings."""

from django.urls import path

from portal.webhooks import pages, receiving

app_name = "hooks"
# One address for each tenant.
urlpatterns = [path("<str:token>/", receiving.receive, name="receive")]

# Below /t/<tenant>/connection/webhook/.
settings_urls = [
    path("", pages.now, name="now"),
    path("test/", pages.test, name="test"),
    path("reveal/", pages.reveal, name="reveal"),
    path("<slug:what>/", pages.change, name="change"),
]
