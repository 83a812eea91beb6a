"""URLs for the service's notifications: one address for each tenant, outside /t/."""

from django.urls import path

from portal.webhooks import receiving

app_name = "hooks"
urlpatterns = [path("<str:token>/", receiving.receive, name="receive")]
