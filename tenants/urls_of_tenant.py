"""This app's pages of one tenant, included under /t/<slug:tenant>/."""

from django.urls import include, path

urlpatterns = [
    path("connection/", include("tenants.connections.urls")),
    path("staff/", include("tenants.staff.urls")),
    path("roles/", include("tenants.staff.roles_urls")),
    path("audit/", include("tenants.trail.urls")),
    path("support/", include("tenants.support.urls")),
]
