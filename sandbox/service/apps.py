"""Django's handle on the sandbox's tables."""

from django.apps import AppConfig


class ServiceConfig(AppConfig):
    name = "sandbox.service"
    label = "service"
