from django.urls import path

from tenants.connections import views

app_name = "connection"
urlpatterns = [
    path("", views.index, name="index"),
    path("connect/", views.connect, name="connect"),
    path("reissue/", views.reissue_token, name="reissue"),
    path("revoke/", views.revoke, name="revoke"),
    path("licence-key/", views.licence_key, name="licence_key"),
    path("operations/", views.operations, name="operations"),
]
