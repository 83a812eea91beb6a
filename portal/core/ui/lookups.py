"""Looking up what an address names: of the tenant in scope, or 404 exactly as for another tenant's."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404

_Row = TypeVar("_Row", bound=Model)
_LARGEST = 2**63


def find(rows: "QuerySet[_Row]", **named: Any) -> _Row | None:
    """The row of these names. None where there is none, and for a name that no row can have."""
    if any(_is_nobodys(value) for value in named.values()):
        return None
    return rows.filter(**named).first()


def get(rows: "QuerySet[_Row]", **named: Any) -> _Row:
    """The row of these names. Raises Http404 where there is none."""
    found = find(rows, **named)
    if found is None:
        raise Http404
    return found


def _is_nobodys(value: Any) -> bool:
    """Tell what PostgreSQL would refuse to compare: a NUL in a text, a number past its largest."""
    return "\x00" in value if isinstance(value, str) else value >= _LARGEST
