"""The site's settings with two libraries to compare with: Django's admin and django-import-export."""

from importlib.util import find_spec

from portal.site.settings import *  # noqa: F403
from portal.site.settings import INSTALLED_APPS, MIDDLEWARE

# First in the list: of two template tag libraries with the same name the last is used, and admin has one named log.
INSTALLED_APPS = ["django.contrib.admin.apps.SimpleAdminConfig", *INSTALLED_APPS]
if find_spec("import_export"):
    INSTALLED_APPS.append("import_export")
MIDDLEWARE = [*MIDDLEWARE, "bench.beside.admin_in_a_tenant"]
ROOT_URLCONF = "bench.beside"
