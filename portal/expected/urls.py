"""Addresses of this part of the desk, below /t/<tenant>/guests/."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter, get_converters

from portal.expected import views


class Sheet(StringConverter):
    regex = "csv|xlsx"


class Language(StringConverter):
    regex = "en|ja"


for name, converter in (("sheet", Sheet), ("spoken", Language)):
    if name not in get_converters():
        register_converter(converter, name)

urlpatterns = [
    path("expected/", views.index, name="expected"),
    path("expected/template-<spoken:language>.<sheet:kind>", views.template, name="expected_template"),
    path("expected/<int:list_id>/", views.page, name="expected_page"),
    path("expected/<int:list_id>/start/", views.start, name="expected_start"),
    path("expected/<int:list_id>/progress/", views.progress, name="expected_progress"),
    path("expected/<int:list_id>/stop/", views.stop, name="expected_stop"),
    path("expected/<int:list_id>/continue/", views.go_on, name="expected_continue"),
    path("expected/<int:list_id>/discard/", views.discard, name="expected_discard"),
    path("expected/<int:list_id>/badges.pdf", views.badge_file, name="expected_badges"),
    path("expected/<int:list_id>/to-correct.<sheet:kind>", views.failed, name="expected_failed"),
]
