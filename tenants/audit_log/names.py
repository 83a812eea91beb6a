"""Names that the trail may not keep, since nothing in it is deleted: looked up for the reader while they exist
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tenants.models import AuditEntry

# Returns for entries, by their keys, the people it knows they were about. One query, none when it knows nobody.
NameFinder = Callable[[Sequence[AuditEntry]], Mapping[int, str]]
_finders: list[NameFinder] = []


def register_finder(finder: NameFinder) -> None:
    """Register `finder` to name entries of the trail. Areas of work call it at start."""
    if finder not in _finders:
        _finders.append(finder)


def fill_names(entries: Sequence[AuditEntry]) -> None:
    """Set on each entry whom it was about, for its sentence. One that cannot be read keeps the sentence that it has."""
    readable = [entry for entry in entries if entry.is_readable]
    for finder in _finders:
        found = finder(readable)
        for entry in entries:
            entry.guest = found.get(entry.pk, entry.guest)
