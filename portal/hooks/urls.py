"""Where the service tells of what happened: one address a tenant, outside of /t/."""

from django.urls import path

from portal.hooks import views

app_name = "hooks"
urlpatterns = [path("<str:token>/", views.receive, name="receive")]
