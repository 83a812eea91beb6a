import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

from accessapi.frames import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.site.settings")
application = with_room(get_wsgi_application())

from portal.site.celery import only_rings  # noqa: E402 - its settings are those of the site

only_rings()

# Django reads all views for the first request of each process: whoever sent it waited a second or more, and the service
# gives up after three. It is done once, before the processes are forked.
reverse("healthz")
