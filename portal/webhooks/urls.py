"""Where the service tells of what happened: one address a tenant, outside of /t/."""

from django.urls import path

from portal.webhooks import receiving

app_name = "hooks"
urlpatterns = [path("<str:token>/", receiving.receive, name="receive")]
