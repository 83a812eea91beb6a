"""The table of operations in this sandbox: that of `accessapi`, with the overrides file if there is one."""

from pathlib import Path

from django.conf import settings

from accessapi.overrides import Catalogue, load_overrides

CATALOGUE = Catalogue(load_overrides(Path(settings.OPERATIONS_FILE)) if settings.OPERATIONS_FILE else None)
