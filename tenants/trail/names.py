"""Names that the trail may not keep, since it forgets nothing: looked up when somebody reads, for as long as they are
kept elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tenants.models import AuditEntry

# Given entries, says by their keys whom those were about that it knows of. In one query, none where it knows nobody.
Finder = Callable[[Sequence[AuditEntry]], Mapping[int, str]]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Have entries of the trail named by `finder`, too. For an area of work, at start."""
    if finder not in _finders:
        _finders.append(finder)


def give(entries: Sequence[AuditEntry]) -> None:
    """Name whom the entries were about, for their sentences."""
    for finder in _finders:
        found = finder(entries)
        for entry in entries:
            entry.guest = found.get(entry.pk, entry.guest)
