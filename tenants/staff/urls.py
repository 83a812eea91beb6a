from django.urls import path

from tenants.staff import account, views

app_name = "staff"
urlpatterns = [
    path("", views.index, name="index"),
    path("sign-ins/", account.staff_sign_ins, name="sign_ins"),
    path("invite/", views.invite, name="invite"),
    path("invitations/<int:pk>/revoke/", views.uninvite, name="uninvite"),
    path("<int:pk>/role/", views.change_role, name="change_role"),
    path("<int:pk>/remove/", views.remove, name="remove"),
]
roles_urls = ([path("", views.roles_page, name="index")], "roles")
