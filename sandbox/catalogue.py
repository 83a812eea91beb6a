"""The table of operations as this sandbox offers it: accessapi's, under the overrides file if any."""

from pathlib import Path

from django.conf import settings

from accessapi.overrides import Catalogue, load_overrides

CATALOGUE = Catalogue(load_overrides(Path(settings.OPERATIONS_FILE)) if settings.OPERATIONS_FILE else None)
