from django.urls import path, re_path

from portal.imports import views

app_name = "imports"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    re_path(r"^template/(?P<language>en|ja)\.(?P<kind>csv|xlsx)$", views.template, name="template"),
    path("<int:import_id>/", views.page, name="page"),
    path("<int:import_id>/columns/", views.columns, name="columns"),
    path("<int:import_id>/start/", views.start, name="start"),
    path("<int:import_id>/progress/", views.progress, name="progress"),
    path("<int:import_id>/stop/", views.stop, name="stop"),
    path("<int:import_id>/continue/", views.go_on, name="continue"),
    path("<int:import_id>/retry/", views.retry, name="retry"),
    path("<int:import_id>/decide/", views.decide, name="decide"),
    path("<int:import_id>/discard/", views.discard, name="discard"),
    re_path(r"^(?P<import_id>[0-9]{1,18})/to-correct\.(?P<kind>csv|xlsx)$", views.failed, name="failed"),
]
