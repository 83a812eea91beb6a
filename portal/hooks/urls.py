"""Where the service tells of what happened: one address a tenant, outside of /t/."""

from django.urls import URLPattern

app_name = "hooks"
urlpatterns: list[URLPattern] = []
