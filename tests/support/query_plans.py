"""How many rows PostgreSQL reads for an answer, which a limit on the number of statements does not show."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def rows_read(table: str, unless: tuple[str, ...] = ()) -> Iterator[list[int]]:
    """Yield a list that collects how many rows of the table each SELECT about it reads.

    Statements that contain a text of `unless` are left out. A test's table has no statistics: there PostgreSQL may read
    all rows of a tenant instead of one page of keys.
    """
    counted: list[int] = []

    def watch(execute: Any, query: Any, params: Any, many: bool, context: Any) -> Any:
        about = table in str(query) and not any(each in str(query) for each in unless)
        if about and str(query).lstrip().startswith(("SELECT", "WITH")):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", params)
                explained = cursor.fetchone()[0]
            explained = json.loads(explained) if isinstance(explained, str) else explained
            counted.append(sum(_read(explained[0]["Plan"], table)))
        return execute(query, params, many, context)

    with connection.execute_wrapper(watch):
        yield counted


def _read(node: dict[str, Any], table: str) -> Iterator[int]:
    if node.get("Relation Name") == table:
        looked = (
            node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        )
        yield round(looked * node["Actual Loops"])
    for child in node.get("Plans", ()):
        yield from _read(child, table)
