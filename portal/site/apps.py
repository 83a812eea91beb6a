"""The Django app of the site. It is the last app, so all models are loaded when it becomes ready."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class SiteConfig(AppConfig):
    name = "portal.site"

    def ready(self) -> None:
        """Import the `signals.py` of each app. They register what their app offers to others, in order of the apps."""
        autodiscover_modules("signals")
