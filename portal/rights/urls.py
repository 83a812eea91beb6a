from django.urls import URLPattern

app_name = "rights"
urlpatterns: list[URLPattern] = []
