import os

from django.core.wsgi import get_wsgi_application

from accessapi.frames import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.site.settings")
application = with_room(get_wsgi_application())

from portal.site.celery import only_rings  # noqa: E402 - its settings are those of the site

only_rings()
