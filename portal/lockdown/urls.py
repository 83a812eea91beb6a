"""URLs of lockdowns and evacuations: the list, new orders, an order with its actions, and the settings."""

from django.urls import path

from portal.lockdown import views

app_name = "lockdown"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("start/", views.start, name="start"),
    path("rehearse/", views.rehearse, name="rehearse"),
    path("evacuation/", views.evacuation, name="evacuation"),
    path("evacuation/start/", views.open_doors, name="open"),
    path("evacuation/rehearse/", views.rehearse_open, name="rehearse_open"),
    path("settings/", views.settings, name="settings"),
    path("settings/save/", views.save_settings, name="save_settings"),
    path("<int:order_id>/", views.page, name="page"),
    path("<int:order_id>/again/", views.again, name="again"),
    path("<int:order_id>/release/", views.release, name="release"),
    path("<int:order_id>/confirm/", views.confirm, name="confirm"),
    path("<int:order_id>/withdraw/", views.withdraw, name="withdraw"),
]
