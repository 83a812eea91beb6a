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
Given = int | str | datetime
_KINDS: dict[type[Given], str] = {int: "bigint", str: "text", datetime: "timestamptz"}


def kind_of(value: Any) -> type[Given] | None:
    """Return which kind a value can be given as; None for others. Numbers come in types of the driver's own, too."""
    return None if isinstance(value, bool) else next((kind for kind in _KINDS if isinstance(value, kind)), None)


class Asking(str):
    """The text that executes a planned statement with its values."""

    __slots__ = ("planned",)
    planned: "Planned"


class Planned:
    """A SELECT with `%s` for each of `params`; those among `stand_ins` are filled in at each execution."""

    def __init__(self, statement: str, params: Sequence[Any], stand_ins: Collection[Given] = ()) -> None:
        self._values: list[Given] = []
        first, *pieces = statement.split("%s")
        text = [first]
        for param, piece in zip(params, pieces, strict=True):
            text += [self._place(param) if _is_among(param, stand_ins) else sql.quote(param), piece]
        self.text = "".join(text).replace("%%", "%")
        kinds = ", ".join(_KINDS[kind] for kind in map(kind_of, self._values) if kind)
        self.name = f"planned_{blake2b(self.text.encode(), digest_size=10).hexdigest()}"
        self.preparing = f"PREPARE {self.name}{f' ({kinds})' if kinds else ''} AS {self.text}; "

    def asking(self, values: Mapping[Any, Given]) -> Asking:
        """Return the text to execute, with a value for each stand-in."""
        given = ", ".join(_quoted(values[each]) for each in self._values)
        asking = Asking(f"EXECUTE {self.name}{f' ({given})' if given else ''}")
        asking.planned = self
        return asking

    def _place(self, stand_in: Given) -> str:
        if stand_in not in self._values:
            self._values.append(stand_in)
        return f"${self._values.index(stand_in) + 1}"


@contextmanager
def preparing(connection: Any, query: Asking) -> Iterator[str]:
    """Yield what must be sent ahead of a query on this psycopg connection so that its plan exists; mostly nothing.

    After a failure inside, it is unknown whether the statement was prepared, and no rollback undoes that: PostgreSQL is
    asked before the next one. A plan whose columns a migration has changed is dropped before it is made again.
    """
    name, there = query.planned.name, _prepared(connection)
    if there.get(name):
        ahead = ""
    else:
        ahead = f"DEALLOCATE {name}; {query.planned.preparing}" if name in there else query.planned.preparing
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
    return idle and isinstance(query, Asking) and _prepared(connection).get(query.planned.name) is False


def _prepared(connection: Any) -> dict[str, bool]:
    """Return the names of the statements this session has prepared, and whether each can still be used."""
    known: dict[str, bool] | None = getattr(connection, "portal_planned", None)
    if known is None:
        rows = psycopg.ClientCursor(connection).execute("SELECT name FROM pg_prepared_statements").fetchall()
        known = connection.portal_planned = {name: True for (name,) in rows}
    return known


def _quoted(value: Given) -> str:
    return str(int(value)) if isinstance(value, int) else sql.quote(value)


def _is_among(param: Any, stand_ins: Collection[Given]) -> bool:
    return kind_of(param) is not None and param in stand_ins
