"""The Django app of the site. It is the last app, so all models are loaded when it becomes ready."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class SiteConfig(AppConfig):
    name = "portal.site"

    def ready(self) -> None:
        """Import the `signals.py` of each app, in order of the apps.

        They register what their app offers to others: stored sentences, menu entries, parts of shared pages, timers.
        """
        autodiscover_modules("signals")
