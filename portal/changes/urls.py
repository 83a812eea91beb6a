from django.urls import URLPattern

app_name = "changes"
urlpatterns: list[URLPattern] = []
