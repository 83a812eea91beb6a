from django.urls import path

from portal.explain import views

app_name = "explain"
urlpatterns = [
    path("", views.index, name="index"),
    path("reading/", views.reading, name="reading"),
]
