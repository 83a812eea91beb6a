"""The table of operations as this sandbox offers it: accessapi's, under the overrides file if any."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from accessapi.doors import among
from accessapi.overrides import Catalogue, load

CATALOGUE = Catalogue(load(Path(settings.OPERATIONS_FILE)) if settings.OPERATIONS_FILE else None)


def word(usual: str, patterns: Iterable[str]) -> str:
    """Return the sandbox's usual word if it is one of these, else the first of them without its wildcards."""
    known = tuple(patterns)
    return usual if not known or among(known, usual.lower()) else known[0].strip("*")
