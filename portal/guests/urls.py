"""Below /t/<tenant>/guests/, last of what stands there: `<sid:guest_id>/` takes whatever nobody else has named."""

from django.urls import path

from portal.guests import views_guest, views_issue, views_presets

urlpatterns = [
    path("new/", views_issue.new, name="new"),
    path("new/hosts/", views_issue.host_choices, name="host_choices"),
    path("new/without-code/", views_issue.without_code, name="without_code"),
    path("party/<uuid:party_id>/", views_issue.party_page, name="party"),
    path("visits/<int:visit_id>/", views_issue.visit, name="visit"),
    path("visits/<int:visit_id>/withdraw/", views_issue.withdraw, name="withdraw"),
    path("presets/", views_presets.index, name="presets"),
    path("presets/new/", views_presets.new, name="preset_new"),
    path("presets/<int:preset_id>/", views_presets.edit, name="preset"),
    path("presets/<int:preset_id>/delete/", views_presets.delete, name="preset_delete"),
    path("presets/<int:preset_id>/move/", views_presets.move, name="preset_move"),
    path("presets/<int:preset_id>/default/", views_presets.make_default, name="preset_default"),
    path("<sid:guest_id>/", views_guest.guest, name="guest"),
    path("<sid:guest_id>/reading/", views_guest.reading, name="reading"),
    path("<sid:guest_id>/edit/", views_guest.edit, name="edit"),
    path("<sid:guest_id>/extend/", views_guest.extend, name="extend"),
    path("<sid:guest_id>/cut/", views_guest.cut, name="cut"),
]
