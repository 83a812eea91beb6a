"""Addresses of the control API."""

from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt

from . import cameras, clock, faults, views, world

urlpatterns = [
    path("tenants", csrf_exempt(views.tenants)),
    path("copies", csrf_exempt(views.copies)),
    path("clients", csrf_exempt(views.clients)),
    path("tokens", csrf_exempt(views.tokens)),
    path("settings", csrf_exempt(views.settings)),
    path("commands", csrf_exempt(views.commands)),
    path("calls", csrf_exempt(views.calls)),
    path("mails", csrf_exempt(views.mails)),
    path("devices", csrf_exempt(views.devices)),
    path("cameras", csrf_exempt(cameras.cameras)),
    path("faults", csrf_exempt(faults.faults)),
    path("clock", csrf_exempt(clock.clock)),
    path("present", csrf_exempt(world.present)),
    path("keys", csrf_exempt(world.keys)),
    path("doors", csrf_exempt(world.doors)),
    path("people", csrf_exempt(world.persons)),
    path("histories", csrf_exempt(world.histories)),
    path("deliveries", csrf_exempt(world.deliveries)),
    path("reset", csrf_exempt(views.reset)),
    re_path("", csrf_exempt(views.unknown)),
]
