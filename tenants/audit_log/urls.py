from django.urls import path

from tenants.audit_log import views

app_name = "audit"
urlpatterns = [
    path("", views.index, name="index"),
    path("<int:pk>/", views.entry, name="entry"),
]
