"""Statements that a PostgreSQL session plans once: for the queries of every page, planning takes longer than running.

The first time in a session the statement is sent with PREPARE, in one message with the query that executes it. After
that, only its name and values are sent. PostgreSQL soon uses one plan for all values: use it only if that plan suits
the smallest tenant and the largest. A pooler in front of PostgreSQL must pool sessions, as for row security.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg import sql

#: Types of values in a prepared statement.
StatementValue = int | str | datetime
_SQL_TYPES: dict[type[StatementValue], str] = {int: "bigint", str: "text", datetime: "timestamptz"}


def type_of(value: Any) -> type[StatementValue] | None:
    """Return the type of a value in a prepared statement; None for unsupported values.

    The driver has its own number types.
    """
    return None if isinstance(value, bool) else next((kind for kind in _SQL_TYPES if isinstance(value, kind)), None)


class ExecuteText(str):
    """The text that executes a prepared statement with its values."""

    __slots__ = ("statement",)
    statement: "PreparedStatement"


class PreparedStatement:
    """A SELECT with `%s` for each of `params`; those among `stand_ins` are filled in at each execution."""

    def __init__(self, statement: str, params: Sequence[Any], stand_ins: Collection[StatementValue] = ()) -> None:
        self._values: list[StatementValue] = []
        first, *pieces = statement.split("%s")
        text = [first]
        for param, piece in zip(params, pieces, strict=True):
            text += [self._placeholder(param) if _is_among(param, stand_ins) else sql.quote(param), piece]
        self.text = "".join(text).replace("%%", "%")
        kinds = ", ".join(_SQL_TYPES[kind] for kind in map(type_of, self._values) if kind)
        self.name = f"planned_{blake2b(self.text.encode(), digest_size=10).hexdigest()}"
        self.preparing = f"PREPARE {self.name}{f' ({kinds})' if kinds else ''} AS {self.text}; "

    def execute_text(self, values: Mapping[Any, StatementValue]) -> ExecuteText:
        """Return the text to execute, with a value for each placeholder."""
        given = ", ".join(_quote(values[each]) for each in self._values)
        execution = ExecuteText(f"EXECUTE {self.name}{f' ({given})' if given else ''}")
        execution.statement = self
        return execution

    def _placeholder(self, stand_in: StatementValue) -> str:
        if stand_in not in self._values:
            self._values.append(stand_in)
        return f"${self._values.index(stand_in) + 1}"


@contextmanager
def preparing(connection: Any, query: ExecuteText) -> Iterator[str]:
    """Yield the text to send before a query on this psycopg connection so that its plan exists; usually empty.

    After a failure inside, it is unknown whether the statement was prepared, and a rollback does not undo that. So
    PostgreSQL's list is read before the next one. A plan whose columns a migration has changed is dropped and prepared
    again.
    """
    name, prepared = query.statement.name, _load_prepared(connection)
    if prepared.get(name):
        ahead = ""
    else:
        ahead = f"DEALLOCATE {name}; {query.statement.preparing}" if name in prepared else query.statement.preparing
        connection.portal_planned = None
    try:
        yield ahead
    except psycopg.errors.FeatureNotSupported:
        connection.portal_planned = prepared | {name: False}
        raise
    if ahead:
        connection.portal_planned = prepared | {name: True}


def is_outdated(connection: Any, query: Any) -> bool:
    """Return whether a query just failed because its plan is outdated, and can be sent again at once."""
    idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    return idle and isinstance(query, ExecuteText) and _load_prepared(connection).get(query.statement.name) is False


def _load_prepared(connection: Any) -> dict[str, bool]:
    """Return the names of this session's prepared statements, and whether each can still be used."""
    known: dict[str, bool] | None = getattr(connection, "portal_planned", None)
    if known is None:
        rows = psycopg.ClientCursor(connection).execute("SELECT name FROM pg_prepared_statements").fetchall()
        known = connection.portal_planned = {name: True for (name,) in rows}
    return known


def _quote(value: StatementValue) -> str:
    return str(int(value)) if isinstance(value, int) else sql.quote(value)


def _is_among(param: Any, stand_ins: Collection[StatementValue]) -> bool:
    return type_of(param) is not None and param in stand_ins
