from django.urls import path

from portal.ui import views

urlpatterns = [path("find/", views.find_in_tenant, name="find")]
