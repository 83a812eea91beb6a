from django.urls import path

from portal.alerts import views

app_name = "alerts"
urlpatterns = [
    path("", views.index, name="index"),
    path("rules/", views.rule_list, name="rules"),
    path("rules/<slug:watched>/", views.rule, name="rule"),
    path("<int:alert_id>/", views.alert, name="alert"),
    path("<int:alert_id>/take/", views.take, name="take"),
    path("<int:alert_id>/give-back/", views.give_back, name="give_back"),
    path("<int:alert_id>/note/", views.note, name="note"),
    path("<int:alert_id>/close/", views.close, name="close"),
]
