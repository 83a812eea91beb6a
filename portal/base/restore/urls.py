from django.urls import path

from portal.base.restore import views

app_name = "restore"
urlpatterns = [
    path("", views.page, name="page"),
    path("release/", views.release, name="release"),
]
