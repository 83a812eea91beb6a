from django.urls import path

from portal.alerts import views

app_name = "alerts"
urlpatterns = [
    path("", views.index, name="index"),
    path("rules/", views.rule_list, name="rules"),
    path("rules/<slug:watched>/", views.rule, name="rule"),
    path("rules/<slug:watched>/new/", views.new_rule, name="new_rule"),
    path("rules/<slug:watched>/<int:rule_id>/", views.rule, name="added_rule"),
    path("rules/<slug:watched>/<int:rule_id>/remove/", views.remove_rule, name="remove_rule"),
    path("rules/<slug:watched>/recipients/", views.recipients, name="recipients"),
    path("notifications/", views.own_settings, name="notify"),
    path("notifications/addresses/", views.addresses, name="addresses"),
    path("notifications/addresses/<int:address_id>/", views.address, name="address"),
    path("notifications/addresses/<int:address_id>/try/", views.send_test, name="address_try"),
    path("notifications/addresses/<int:address_id>/renew/", views.renew_secret, name="address_renew"),
    path("notifications/addresses/<int:address_id>/remove/", views.remove_address, name="address_remove"),
    path("<int:alert_id>/", views.alert, name="alert"),
    path("<int:alert_id>/take/", views.assign, name="take"),
    path("<int:alert_id>/give-back/", views.unassign, name="give_back"),
    path("<int:alert_id>/note/", views.note, name="note"),
    path("<int:alert_id>/close/", views.close, name="close"),
]
