from django.urls import URLPattern

app_name = "member_rights"
urlpatterns: list[URLPattern] = []
