from django.urls import path

from portal.core.ui import views

urlpatterns = [
    path("find/", views.find_in_tenant, name="find"),
    path("banners/", views.banners_of_tenant, name="banners"),
]
