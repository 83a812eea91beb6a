from django.urls import path

from portal.areas import views, views_edit

app_name = "areas"
urlpatterns = [
    path("", views.index, name="index"),
    path("rights/load/", views.load, name="load"),
    path("<sid:area_id>/", views.area, name="area"),
    path("<sid:area_id>/members/", views_edit.choose, name="choose"),
    path("<sid:area_id>/grant/", views_edit.grant, name="grant"),
    path("<sid:area_id>/withdraw/", views_edit.withdraw, name="withdraw"),
    path("<sid:area_id>/edits/<int:job_id>/", views_edit.preview, name="preview"),
    path("<sid:area_id>/edits/<int:job_id>/start/", views_edit.start, name="start"),
    path("<sid:area_id>/edits/<int:job_id>/discard/", views_edit.discard, name="discard"),
    path("<sid:area_id>/edits/<int:job_id>/undo/", views_edit.undo, name="undo"),
]
