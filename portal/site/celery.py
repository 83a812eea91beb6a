"""Start Celery's processes (`celery -A portal.site`): read the settings, and check them before any task runs."""

import os
from typing import Any

from celery.signals import beat_init, worker_init

from portal.site import env

# Before Celery's app is made: it asks then whether Django is used.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.site.settings")
env.read_settings()

from portal.base.timers.celery_app import app  # noqa: E402, F401 - after the settings; Celery looks for it here
from portal.site import startup  # noqa: E402 - it imports Celery's app


@worker_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
@beat_init.connect  # type: ignore[untyped-decorator]  # nor here
def _check_settings(**kwargs: Any) -> None:
    """End a worker or a clock that starts with settings that would break a promise."""
    startup.exit_if_misconfigured()
