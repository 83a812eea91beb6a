from django.urls import path

from portal.domain.safety import views

app_name = "safety"
urlpatterns = [
    path("<int:change_id>/", views.page, name="change"),
    path("<int:change_id>/confirm/", views.confirm, name="confirm"),
    path("<int:change_id>/decline/", views.decline, name="decline"),
]
