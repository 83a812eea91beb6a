import atexit
import os
import shutil
import tempfile

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

from accessapi.stack_memory import with_stack_memory
from portal.site import env, startup


def _share_metrics_folder() -> None:
    """Choose the folder where this site's processes write their counts (`portal.site.monitoring`)."""
    folder, chosen_by = tempfile.mkdtemp(prefix="portal-counts-"), os.getpid()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder

    def remove() -> None:
        if os.getpid() == chosen_by:  # forked processes must not delete the folder when they end
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    _share_metrics_folder()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.site.settings")
env.read_settings()
startup.exit_if_misconfigured()
application = with_stack_memory(get_wsgi_application())

from portal.base.timers.celery_app import limit_broker_wait  # noqa: E402 - its settings are those of the site

limit_broker_wait()

# Django loads all views at the first request, which takes a second or more, and the service gives up after three. So it
# is done once here, before processes are forked.
reverse("healthz")
