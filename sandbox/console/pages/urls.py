"""Addresses of the console's pages."""

from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path

from .assets import asset
from .base import PageMissing, console_page
from .building import building
from .controls import controls
from .mail_page import mail
from .tenants import index


@console_page
def page_missing(request: HttpRequest, **parts: str) -> HttpResponse:
    """Return 404 for all other addresses below /console/."""
    raise PageMissing


urlpatterns = [
    path("", index),
    path("controls/", controls),
    path("t/<str:tenant_id>/", building),
    path("t/<str:tenant_id>/controls/", controls),
    path("t/<str:tenant_id>/mails/<int:number>/", mail),
    path("static/<str:digest>/<str:name>", asset),
    re_path("(?P<rest>.*)", page_missing),
]
