"""The site's settings with two strangers beside it, to measure against: Django's admin and django-import-export."""

from importlib.util import find_spec

from portal.site.settings import *  # noqa: F403
from portal.site.settings import INSTALLED_APPS, MIDDLEWARE

# First, since the last library of a name wins, and admin has one named log.
INSTALLED_APPS = ["django.contrib.admin.apps.SimpleAdminConfig", *INSTALLED_APPS]
if find_spec("import_export"):
    INSTALLED_APPS.append("import_export")
MIDDLEWARE = [*MIDDLEWARE, "bench.beside.admin_in_a_tenant"]
ROOT_URLCONF = "bench.beside"
