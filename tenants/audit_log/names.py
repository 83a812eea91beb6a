"""Names of people that the audit log does not store, because its entries are never deleted.

They are looked up for the reader while they exist elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tenants.models import AuditEntry

# Returns names of people by the IDs of the entries that are about them. Makes one query, or none if no entry matches.
NameFinder = Callable[[Sequence[AuditEntry]], Mapping[int, str]]
_finders: list[NameFinder] = []


def register_finder(finder: NameFinder) -> None:
    """Register `finder` to find names for entries. Apps call it at start."""
    if finder not in _finders:
        _finders.append(finder)


def fill_names(entries: Sequence[AuditEntry]) -> None:
    """Set on each entry the name of the person it is about. An entry that cannot be decrypted keeps its sentence."""
    readable = [entry for entry in entries if entry.is_readable]
    for finder in _finders:
        found = finder(readable)
        for entry in entries:
            entry.guest = found.get(entry.pk, entry.guest)
