"""The SQL that this session sends to the database, with prepared statements in full."""

from collections.abc import Iterable

from django.db import connection


def prepared() -> dict[str, str]:
    """Return the prepared statements of this session, by name."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, statement FROM pg_prepared_statements")
        return dict(cursor.fetchall())


def in_full(asked: Iterable[dict[str, str]]) -> list[str]:
    """Return the SQL of captured queries, with the text of prepared statements."""
    planned = prepared()
    return [planned.get(each["sql"].removeprefix("EXECUTE ").partition(" ")[0], each["sql"]) for each in asked]
