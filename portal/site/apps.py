"""The Django apps of the site, and of folders with another label: their tables have it, or two folders have one name.

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


class Mirror(AppConfig):
    name = "portal.domain.sync"
    label = "mirror"  # of the tables of people, places and the log, too


class Jobs(AppConfig):
    name = "portal.domain.jobs"
    label = "bulk"


class Visits(AppConfig):
    name = "portal.domain.visits"
    label = "guests"


class Presence(AppConfig):
    name = "portal.domain.presence"
    label = "inside"


class RightsPages(AppConfig):
    name = "portal.rights"
    label = "rights_pages"


class GuestsPages(AppConfig):
    name = "portal.guests"
    label = "guests_pages"


class CamerasPages(AppConfig):
    name = "portal.cameras"
    label = "cameras_pages"


class AlertsPages(AppConfig):
    name = "portal.alerts"
    label = "alerts_pages"


class Webhooks(AppConfig):
    name = "portal.webhooks"
    label = "hooks"


class Notifications(AppConfig):
    name = "portal.domain.notifications"
    label = "telling"
