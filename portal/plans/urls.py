from django.urls import path

from portal.plans import views

app_name = "plans"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("<int:pk>/", views.plan, name="plan"),
    path("<int:pk>/picture/<slug:mark>/", views.picture, name="picture"),
    path("<int:pk>/edit/", views.edit, name="edit"),
    path("<int:pk>/replace/", views.replace, name="replace"),
    path("<int:pk>/delete/", views.delete, name="delete"),
]
