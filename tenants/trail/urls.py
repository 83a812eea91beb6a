from django.urls import path

from tenants.trail import views

app_name = "audit"
urlpatterns = [
    path("", views.index, name="index"),
    path("<int:pk>/", views.entry, name="entry"),
]
