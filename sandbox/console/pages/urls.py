"""Addresses of the console's pages."""

from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path

from .assets import asset
from .controls import controls
from .house import house
from .mail import mail
from .page import Missing, page
from .tenants import index


@page
def nothing(request: HttpRequest, **parts: str) -> HttpResponse:
    """Answer everything else below /console/ with 404."""
    raise Missing


urlpatterns = [
    path("", index),
    path("controls/", controls),
    path("t/<str:tenant_id>/", house),
    path("t/<str:tenant_id>/controls/", controls),
    path("t/<str:tenant_id>/mails/<int:number>/", mail),
    path("static/<str:digest>/<str:name>", asset),
    re_path("(?P<rest>.*)", nothing),
]
