"""The database backend for row security.

Before anything runs on a connection (a query, COPY, a server-side cursor), the entered tenant is compared with what
that connection was last told. Only a difference costs a statement, which goes in one message with the SELECT that waits
for it. The settings are session settings made inside the open transaction, so a rollback undoes them: after any
rollback, and after a connection comes from the pool, the next statement tells it again. So a pooler in front of
PostgreSQL must pool sessions, not transactions: `guard.py` refuses others, and roles that row security does not bind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base, operations
from psycopg import sql

from tenants.postgresql import edges, guard, patience, planned
from tenants.scope import database_settings

_away = patience.Away()
_UNKNOWN = ("?", "?")
_NOTHING = ("", "")
# These read no row, and one of them is all that a transaction accepts after a failed statement.
_OF_TRANSACTIONS = ("ROLLBACK ", "SAVEPOINT ", "RELEASE ")


def tell(connection: Any) -> None:
    """Tell this psycopg connection the entered tenant, for row security, unless it knows already."""
    wanted, ahead = _ahead(connection)
    if ahead:
        forget(connection)
        psycopg.ClientCursor(connection).execute(ahead)
        connection.portal_told = wanted


def forget(connection: Any) -> None:
    """Forget what this psycopg connection was told, so that the next statement tells it again."""
    if connection is not None:
        connection.portal_told = _UNKNOWN


def _ahead(connection: Any) -> tuple[tuple[str, str], str]:
    """Return what to tell, and the statement that tells it; an empty one when it was told already.

    PostgreSQL runs the statements of one message in their order, each planned when the one before it is done, and none
    after one that failed.
    """
    wanted = database_settings()
    if getattr(connection, "portal_told", _UNKNOWN) == wanted:
        return wanted, ""
    tenant, across = (sql.quote(each) for each in wanted)
    return (
        wanted,
        f"SELECT set_config('portal.tenant', {tenant}, false), set_config('portal.across', {across}, false); ",
    )


class _Telling:
    """Every way in which a psycopg cursor sends something, COPY included."""

    connection: Any
    # Whether one message may hold several statements.
    joins = False

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._execute(query, *args, **kwargs)
        except psycopg.errors.FeatureNotSupported:
            if not planned.is_outdated(self.connection, query):
                raise
            return self._execute(query, *args, **kwargs)

    def _execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(query, planned.Asking):
            with planned.preparing(self.connection, query) as ahead:
                return self._tell_and_execute(ahead, query, *args, **kwargs)
        return self._tell_and_execute("", query, *args, **kwargs)

    def _tell_and_execute(self, before: str, query: Any, *args: Any, **kwargs: Any) -> Any:
        # A statement that is neither a plain SELECT nor a planned one may not allow another one in its message.
        if self.joins and isinstance(query, str) and query.startswith(("SELECT ", "EXECUTE ")):
            wanted, ahead = _ahead(self.connection)
            if before or ahead:
                return self._execute_behind(wanted, before + ahead, query, *args, **kwargs)
        elif not (isinstance(query, str) and query.startswith(_OF_TRANSACTIONS)):
            tell(self.connection)
            if before:
                psycopg.ClientCursor(self.connection).execute(before)
        return super().execute(query, *args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it

    def _execute_behind(self, wanted: tuple[str, str], ahead: str, query: str, *args: Any, **kwargs: Any) -> Any:
        """Tell and ask in one message. The cursor then describes the question alone."""
        this: Any = self
        forget(self.connection)
        super().execute(ahead + query, *args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it
        self.connection.portal_told = wanted
        while this.nextset():
            pass
        this._query.query = query.encode() if isinstance(query, planned.Asking) else this._query.query[len(ahead) :]
        return self

    def executemany(self, *args: Any, **kwargs: Any) -> Any:
        tell(self.connection)
        return super().executemany(*args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        tell(self.connection)
        return super().copy(*args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        tell(self.connection)
        yield from super().stream(*args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it


class TellingCursor(_Telling, base.Cursor):
    """Client-side binding, Django's default."""

    joins = True


class TellingServerBindingCursor(_Telling, base.ServerBindingCursor):
    """Server-side binding (OPTIONS["server_side_binding"])."""


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = "tenants.postgresql.compiler"


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        binding = params["cursor_factory"] is base.ServerBindingCursor
        params["cursor_factory"] = TellingServerBindingCursor if binding else TellingCursor
        params = patience.WITHIN | params
        params["context"] = edges.adapters(settings.USE_TZ, self.timezone)
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not self.settings_dict.get("IS_OWNER"):  # whose commands migrate, and serve nobody
            guard.require(conn_params)
        connection = self._pooled(conn_params) if self.pool else super().get_new_connection(conn_params)
        connection.portal_told = _UNKNOWN if self.pool else _NOTHING
        if not self.pool:
            connection.portal_planned = {}
        return connection

    def _pooled(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection from the pool. While the database is away, one request at a time waits for it."""
        _away.check()
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError:
            _away.note()
            raise

    def create_cursor(self, name: str | None = None) -> Any:
        if name:  # a server-side cursor of Django's own class, executed at once by whoever asked for it
            tell(self.connection)
        return super().create_cursor(name)

    def _rollback(self) -> None:
        forget(self.connection)
        super()._rollback()  # type: ignore[misc]  # private to Django

    def _savepoint_rollback(self, sid: str) -> None:
        super()._savepoint_rollback(sid)  # type: ignore[misc]  # private to Django
        forget(self.connection)

    def _close(self) -> None:
        forget(self.connection)
        super()._close()  # type: ignore[misc]  # private to Django
