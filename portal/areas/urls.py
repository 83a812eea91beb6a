from django.urls import URLPattern

app_name = "areas"
urlpatterns: list[URLPattern] = []
