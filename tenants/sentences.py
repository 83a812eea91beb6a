"""The sentences that are stored as codes, in the reader's language: of requests, long jobs and the audit log.

Each app registers its own in `words.py`, which the site imports at start (`portal.site.apps`). A code that rows may
hold is never removed, and its meaning never changes. An audit log entry uses its action as its code if the action has
one sentence. Values that are counted are called `n`.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Filled at start: sentences by their code, kinds of targets by the first part of a target's code, and actors in the
# audit log that are not people.
TEXTS: dict[str, Promise] = {}
TARGETS: dict[str, Promise] = {}
ACTORS: dict[str, Promise] = {}
# Names that are never stored, since they are deleted later, and the text for a name that is not looked up. They are
# not registered: the audit log must never hold them, also if an app is missing.
REPLACEMENT_NAMES: Mapping[str, Promise] = {"guest": _("a guest")}


def register_sentences(texts: Mapping[str, Promise]) -> None:
    """Add an app's sentences by their codes. Raises ValueError for a code that is registered already."""
    _add(TEXTS, texts)


def register_targets(words: Mapping[str, Promise]) -> None:
    """Add the words for kinds of targets. Raises ValueError for a kind that is registered already."""
    _add(TARGETS, words)


def register_actors(names: Mapping[str, Promise]) -> None:
    """Add the names of actors that are not people. Raises ValueError for one that is registered already."""
    _add(ACTORS, names)


def _add(known: dict[str, Promise], more: Mapping[str, Promise]) -> None:
    if twice := known.keys() & more.keys():
        raise ValueError(f"Registered twice: {', '.join(sorted(twice))}.")
    known.update(more)
