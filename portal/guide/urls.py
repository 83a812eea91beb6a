from django.urls import path

from portal.guide import views

app_name = "guide"
urlpatterns = [
    path("", views.page, name="index"),
    path("<slug:name>/", views.page, name="page"),
]
