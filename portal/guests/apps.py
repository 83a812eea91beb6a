from django.apps import AppConfig


class GuestsConfig(AppConfig):
    name = "portal.guests"
    label = "guests_pages"  # the models of visits are in an app named "guests" already
