"""Django's SQL compiler, which reuses parts of earlier queries: this saves a tenth of a page's time.

All columns of a table, which most queries select, are written once. Ordering by names hashes no column.
"""

from collections.abc import Iterator
from typing import Any, cast

from django.db.backends.postgresql import compiler
from django.db.backends.postgresql.compiler import (
    SQLAggregateCompiler,
    SQLDeleteCompiler,
    SQLInsertCompiler,
    SQLUpdateCompiler,
)
from django.db.models.expressions import Col

__all__ = ["SQLAggregateCompiler", "SQLCompiler", "SQLDeleteCompiler", "SQLInsertCompiler", "SQLUpdateCompiler"]

_NEVER_EQUAL = object()
_NOTHING_DEFERRED = (frozenset[str](), True)


class _Columns:
    """All columns of a table under a name in a query, and how their values are read."""

    def __init__(self, select: list[Any], converters: dict[int, Any]) -> None:
        self.select, self.converters = select, converters


_columns: dict[tuple[type, str], _Columns] = {}


class SQLCompiler(compiler.SQLCompiler):
    select: Any

    def compile(self, node: Any) -> Any:
        return node.as_sql(self, self.connection) if type(node) is Col else super().compile(node)

    def get_select(self, with_col_aliases: bool = False) -> Any:
        query: Any = self.query
        if not with_col_aliases and _selects_all(query):
            name = query.get_initial_alias()
            cached = _columns.get((query.model, name))
            if cached is None:
                select, *_ = super().get_select()
                cached = _Columns(select, super().get_converters([each for each, *_ in select]))
                _columns[query.model, name] = cached
            fields = list(range(len(cached.select)))
            return [*cached.select], {"model": query.model, "select_fields": fields}, {}
        return super().get_select(with_col_aliases)

    def get_converters(self, expressions: Any) -> Any:
        query: Any = self.query
        cached = _columns.get((query.model, query.base_table))
        if cached and len(expressions) == len(cached.select) and expressions[0] is cached.select[0][0]:
            return cached.converters
        return super().get_converters(expressions)

    def _order_by_pairs(self) -> Iterator[Any]:  # type: ignore[override]  # private to Django, whose types are not exact
        """Look up the ordering among the selected annotations only: a name can only be that of an annotation.

        Django also searches the columns, and hashes each, even if no expression is wanted.
        """
        query: Any = self.query
        meta, django, selected = query.get_meta(), cast(Any, super()), self.select
        orders = (*query.extra_order_by, *query.order_by, *(meta.ordering if meta else ()))
        if all(isinstance(each, str) for each in orders):
            has_names = query.combinator or any(alias for *_, alias in selected or ())
            self.select = has_names and [each if each[2] else (_NEVER_EQUAL, *each[1:]) for each in selected or ()]
        try:
            return iter(list(django._order_by_pairs()))
        finally:
            self.select = selected


def _selects_all(query: Any) -> bool:
    """Return whether a query selects exactly the columns of its table."""
    return (
        query.default_cols
        and query.selected is None
        and not query.annotation_select
        and not query.extra_select
        and not query.select_related
        and query.deferred_loading == _NOTHING_DEFERRED
        and not query.get_meta().parents
    )
