from django.urls import path

from tenants.staff import views

app_name = "roles"
urlpatterns = [path("", views.roles_page, name="index")]
