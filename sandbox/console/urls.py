"""Addresses of the control API."""

from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt

from . import cameras, clock, faults, physical_actions, views

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
    path("present", csrf_exempt(physical_actions.present)),
    path("keys", csrf_exempt(physical_actions.keys)),
    path("doors", csrf_exempt(physical_actions.doors)),
    path("people", csrf_exempt(physical_actions.persons)),
    path("histories", csrf_exempt(physical_actions.histories)),
    path("deliveries", csrf_exempt(physical_actions.deliveries)),
    path("reset", csrf_exempt(views.reset)),
    re_path("", csrf_exempt(views.unknown)),
]
