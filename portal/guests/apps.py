from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests"
