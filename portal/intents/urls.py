from django.urls import path

from portal.intents import views

app_name = "intents"
urlpatterns = [
    path("", views.index, name="index"),
    path("<int:intent_id>/", views.page, name="page"),
    path("<int:intent_id>/outcome/", views.outcome, name="outcome"),
    path("<int:intent_id>/decide/", views.decide, name="decide"),
    path("<int:intent_id>/stop/", views.stop, name="stop"),
]
