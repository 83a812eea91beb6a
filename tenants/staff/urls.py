from django.urls import path

from tenants.staff import views

app_name = "staff"
urlpatterns = [
    path("", views.index, name="index"),
    path("invite/", views.invite, name="invite"),
    path("invitations/<int:pk>/revoke/", views.uninvite, name="uninvite"),
    path("<int:pk>/role/", views.change_role, name="change_role"),
    path("<int:pk>/remove/", views.remove, name="remove"),
]
