"""URLs of the webhook's settings, below /t/<tenant>/connection/webhook/."""

from django.urls import path

from portal.webhooks import pages

app_name = "webhook"
urlpatterns = [
    path("", pages.now, name="now"),
    path("test/", pages.test, name="test"),
    path("reveal/", pages.reveal, name="reveal"),
    path("<slug:what>/", pages.change, name="change"),
]
