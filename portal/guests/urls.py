"""Addresses below /t/<tenant>/guests/.

They must be included last, because `<sid:guest_id>/` matches everything else.
"""

from django.urls import path

from portal.guests import views

urlpatterns = [
    path("new/", views.new, name="new"),
    path("new/hosts/", views.host_choices, name="host_choices"),
    path("new/end/", views.end_reading, name="end_reading"),
    path("new/without-code/", views.check_in_without_code, name="without_code"),
    path("party/<uuid:party_id>/", views.party_page, name="party"),
    path("visits/<int:visit_id>/", views.visit, name="visit"),
    path("visits/<int:visit_id>/withdraw/", views.cancel_request, name="withdraw"),
    path("presets/", views.presets, name="presets"),
    path("presets/new/", views.new_preset, name="preset_new"),
    path("presets/<int:preset_id>/", views.edit_preset, name="preset"),
    path("presets/<int:preset_id>/delete/", views.delete_preset, name="preset_delete"),
    path("presets/<int:preset_id>/move/", views.move_preset, name="preset_move"),
    path("presets/<int:preset_id>/default/", views.make_default_preset, name="preset_default"),
    path("<sid:guest_id>/", views.guest, name="guest"),
    path("<sid:guest_id>/reading/", views.reading, name="reading"),
    path("<sid:guest_id>/edit/", views.edit, name="edit"),
    path("<sid:guest_id>/extend/", views.extend, name="extend"),
    path("<sid:guest_id>/cut/", views.deactivate, name="cut"),
]
