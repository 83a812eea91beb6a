from django.urls import path

from tenants.support import views

app_name = "platform"
urlpatterns = [
    path("", views.home, name="index"),
    path("enter/<slug:slug>/", views.enter, name="enter"),
]
