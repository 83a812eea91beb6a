from django.urls import path

from portal.rights import views

app_name = "member_rights"
urlpatterns = [
    path("", views.edit, name="edit"),
    path("words/", views.followed, name="words"),
]
