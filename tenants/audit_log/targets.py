"""Find the names that targets of the audit log have now, in one query for a page."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Model, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from tenants.models import AuditEntry


class NamedRows(NamedTuple):
    """The rows of a kind of target: their model, and the fields with the code and the name."""

    model: type[Model]
    code: str
    name: str

    def select(self, kind: str, condition: Q) -> QuerySet[Any, tuple[str, str]]:
        """Return the target and the name of matching rows."""
        rows = self.model._default_manager.filter(condition).order_by()
        return rows.values_list(Value(kind), Cast(self.code, TextField()), Cast(self.name, TextField()))


_ROWS: dict[str, NamedRows] = {}
# How many targets a search by name finds of each kind.
_MOST_FOUND = 50


def register_names(kind: str, model: type[Model], code: str, name: str) -> None:
    """Register where the names of a kind of target are. Apps call it at start, for things but not for people."""
    _ROWS[kind] = NamedRows(model, code, name)


def fill_target_names(entries: Sequence[AuditEntry]) -> None:
    """Set on each entry the name of its target. A deleted target keeps its code."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        kind, _colon, code = entry.target.partition(":")
        if kind in _ROWS and (code.isdecimal() or _ROWS[kind].code != "pk"):
            wanted[kind].add(code)
    found = _load([_ROWS[kind].select(kind, Q((f"{_ROWS[kind].code}__in", codes))) for kind, codes in wanted.items()])
    for entry in entries:
        entry.target_name = found.get(entry.target, "")


def find_by_name(text: str) -> list[str]:
    """Return the targets whose name has this text, in one query."""
    parts = [rows.select(kind, Q((f"{rows.name}__icontains", text)))[:_MOST_FOUND] for kind, rows in _ROWS.items()]
    return list(_load(parts))


def _load(parts: list[QuerySet[Any, Any]]) -> dict[str, str]:
    if not parts:
        return {}
    rows = parts[0].union(*parts[1:], all=True) if parts[1:] else parts[0]
    return {f"{kind}:{code}": name for kind, code, name in rows}
