"""SQL from querysets, as Django makes it, but that an order by names hashes no column: a twentieth of a page's time."""

from collections.abc import Iterator
from typing import Any, cast

from django.db.backends.postgresql import compiler
from django.db.backends.postgresql.compiler import (
    SQLAggregateCompiler,
    SQLDeleteCompiler,
    SQLInsertCompiler,
    SQLUpdateCompiler,
)

__all__ = ["SQLAggregateCompiler", "SQLCompiler", "SQLDeleteCompiler", "SQLInsertCompiler", "SQLUpdateCompiler"]

_NOBODY_ASKS_FOR = object()


class SQLCompiler(compiler.SQLCompiler):
    select: Any

    def _order_by_pairs(self) -> Iterator[Any]:  # type: ignore[override]  # private to Django, whose types are not exact
        """Look for what the rows are ordered by among what is selected: a name can only be that of an annotation.

        Django looks among the columns too, and hashes each, even where no expression is looked for.
        """
        query: Any = self.query
        meta, django, selected = query.get_meta(), cast(Any, super()), self.select
        wanted = (*query.extra_order_by, *query.order_by, *(meta.ordering if meta else ()))
        if all(isinstance(each, str) for each in wanted):
            self.select = [each if each[2] else (_NOBODY_ASKS_FOR, *each[1:]) for each in selected or ()]
        try:
            return iter(list(django._order_by_pairs()))
        finally:
            self.select = selected
