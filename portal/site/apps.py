"""The Django apps of the site, and of pages whose folder has the name of a folder in `portal/domain`.

The site is the last app, so all models are loaded when it becomes ready.
"""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class SiteConfig(AppConfig):
    name = "portal.site"

    def ready(self) -> None:
        """Import the `signals.py` of each app, in order of the apps.

        They register what their app offers to others: stored sentences, menu entries, parts of shared pages, timers.
        """
        autodiscover_modules("signals")


class RightsPages(AppConfig):
    name = "portal.rights"
    label = "rights_pages"


class CamerasPages(AppConfig):
    name = "portal.cameras"
    label = "cameras_pages"


class AlertsPages(AppConfig):
    name = "portal.alerts"
    label = "alerts_pages"


class HistoryPages(AppConfig):
    name = "portal.history"
    label = "history_pages"
