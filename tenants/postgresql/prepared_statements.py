"""Statements that a PostgreSQL session plans once: planning what every page asks takes longer than answering it.

The first time in a session the statement is sent with PREPARE, in one message with the query that executes it, and from
then on by its name and values alone. PostgreSQL soon keeps one plan for all values: use it only when that plan is right
for the smallest tenant and the largest. A pooler in front of PostgreSQL must pool sessions, as for row security.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg import sql

#: What a value of a planned statement may be.
StatementValue = int | str | datetime
_SQL_TYPES: dict[type[StatementValue], str] = {int: "bigint", str: "text", datetime: "timestamptz"}


def type_of(value: Any) -> type[StatementValue] | None:
    """Return which kind a value can be given as; None for others. Numbers come in types of the driver's own, too."""
    return None if isinstance(value, bool) else next((kind for kind in _SQL_TYPES if isinstance(value, kind)), None)


class ExecuteText(str):
    """The text that executes a planned statement with its values."""

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
        """Return the text to execute, with a value for each stand-in."""
        given = ", ".join(_quote(values[each]) for each in self._values)
        asking = ExecuteText(f"EXECUTE {self.name}{f' ({given})' if given else ''}")
        asking.statement = self
        return asking

    def _placeholder(self, stand_in: StatementValue) -> str:
        if stand_in not in self._values:
            self._values.append(stand_in)
        return f"${self._values.index(stand_in) + 1}"


@contextmanager
def preparing(connection: Any, query: ExecuteText) -> Iterator[str]:
    """Yield what must be sent ahead of a query on this psycopg connection so that its plan exists; mostly nothing.

    After a failure inside, it is unknown whether the statement was prepared, and no rollback undoes that: PostgreSQL is
    asked before the next one. A plan whose columns a migration has changed is dropped before it is made again.
    """
    name, there = query.statement.name, _load_prepared(connection)
    if there.get(name):
        ahead = ""
    else:
        ahead = f"DEALLOCATE {name}; {query.statement.preparing}" if name in there else query.statement.preparing
        connection.portal_planned = None
    try:
        yield ahead
    except psycopg.errors.FeatureNotSupported:
        connection.portal_planned = there | {name: False}
        raise
    if ahead:
        connection.portal_planned = there | {name: True}


def is_outdated(connection: Any, query: Any) -> bool:
    """Return whether a query failed just now because its plan is outdated, and can be sent again at once."""
    idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    return idle and isinstance(query, ExecuteText) and _load_prepared(connection).get(query.statement.name) is False


def _load_prepared(connection: Any) -> dict[str, bool]:
    """Return the names of the statements this session has prepared, and whether each can still be used."""
    known: dict[str, bool] | None = getattr(connection, "portal_planned", None)
    if known is None:
        rows = psycopg.ClientCursor(connection).execute("SELECT name FROM pg_prepared_statements").fetchall()
        known = connection.portal_planned = {name: True for (name,) in rows}
    return known


def _quote(value: StatementValue) -> str:
    return str(int(value)) if isinstance(value, int) else sql.quote(value)


def _is_among(param: Any, stand_ins: Collection[StatementValue]) -> bool:
    return type_of(param) is not None and param in stand_ins
