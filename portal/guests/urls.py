from django.urls import URLPattern

app_name = "guests"
urlpatterns: list[URLPattern] = []
