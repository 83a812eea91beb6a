"""What this session asks of the database, also by the names of statements that are planned already."""

from collections.abc import Iterable

from django.db import connection


def prepared() -> dict[str, str]:
    """The statements that this session has planned, by their names."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, statement FROM pg_prepared_statements")
        return dict(cursor.fetchall())


def in_full(asked: Iterable[dict[str, str]]) -> list[str]:
    """The SQL of captured queries, also of what was asked by its name."""
    planned = prepared()
    return [planned.get(each["sql"].removeprefix("EXECUTE ").partition(" ")[0], each["sql"]) for each in asked]
