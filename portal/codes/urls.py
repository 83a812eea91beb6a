"""Addresses of the codes' pages, below /t/<tenant>/guests/."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter, get_converters

from portal.codes import views


class PictureConverter(StringConverter):
    regex = "svg|png"


class PaperConverter(StringConverter):
    regex = "badge|slip"


for name, converter in (("picture", PictureConverter), ("paper", PaperConverter)):
    if name not in get_converters():
        register_converter(converter, name)

urlpatterns = [
    path("party/<uuid:party>/badges/", views.party_badges, name="party_badges"),
    path("party/<uuid:party>/<paper:form>.pdf", views.party_pdf, name="party_pdf"),
    path("<sid:guest_id>/code/", views.code, name="code"),
    path("<sid:guest_id>/code.<picture:kind>", views.code_file, name="code_file"),
    path("<sid:guest_id>/badge/", views.badge, name="badge"),
    path("<sid:guest_id>/<paper:form>.pdf", views.badge_pdf, name="badge_pdf"),
    path("<sid:guest_id>/link/", views.create_link, name="link"),
    path("<sid:guest_id>/link/revoke/", views.revoke_link, name="unlink"),
]
