from django.urls import path

from portal.home import views

app_name = "home"
urlpatterns = [path("", views.index, name="index"), path("recent-changes/", views.changes, name="changes")]
