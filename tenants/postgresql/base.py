"""The database backend for row security.

Before anything runs on a connection (a query, COPY, a server-side cursor), the current tenant is compared with the
connection's last settings. Only a difference costs a statement, sent in one message with the waiting SELECT. They are
session settings made inside the open transaction, so a rollback undoes them. After any rollback, and after a connection
comes from the pool, the next statement sets them again. So a pooler in front of PostgreSQL must pool sessions, not
transactions. `tenants.postgresql.server_checks` refuses other poolers, and roles that bypass row security.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base, operations
from psycopg import sql

from tenants.postgresql import date_limits, prepared_statements, server_checks, timeouts
from tenants.scope import row_security_settings

_outage = timeouts.Outage()
_UNKNOWN_SCOPE = ("?", "?")
_NO_SCOPE = ("", "")
# These read no row, and after a failed statement a transaction accepts nothing else.
_TRANSACTION_STATEMENTS = ("ROLLBACK ", "SAVEPOINT ", "RELEASE ")


def apply_scope(connection: Any) -> None:
    """Set the current tenant on this psycopg connection for row security, unless it is set already."""
    scope_settings, ahead = _scope_statement(connection)
    if ahead:
        forget_scope(connection)
        psycopg.ClientCursor(connection).execute(ahead)
        connection.portal_scope = scope_settings


def forget_scope(connection: Any) -> None:
    """Forget the settings of this psycopg connection, so that the next statement sets them again."""
    if connection is not None:
        connection.portal_scope = _UNKNOWN_SCOPE


def _scope_statement(connection: Any) -> tuple[tuple[str, str], str]:
    """Return the wanted settings, and the statement that sets them; an empty text if they are set already.

    PostgreSQL runs the statements of one message in order. It plans each one after the one before, and stops after a
    failure.
    """
    scope_settings = row_security_settings()
    if getattr(connection, "portal_scope", _UNKNOWN_SCOPE) == scope_settings:
        return scope_settings, ""
    tenant, across = (sql.quote(each) for each in scope_settings)
    return (
        scope_settings,
        f"SELECT set_config('portal.tenant', {tenant}, false), set_config('portal.across', {across}, false); ",
    )


class _ScopedCursorMixin:
    """A mixin for every way in which a psycopg cursor sends statements, COPY included."""

    connection: Any
    # Whether one message may hold several statements.
    can_join = False

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._execute(query, *args, **kwargs)
        except psycopg.errors.FeatureNotSupported:
            if not prepared_statements.is_outdated(self.connection, query):
                raise
            return self._execute(query, *args, **kwargs)

    def _execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(query, prepared_statements.ExecuteText):
            with prepared_statements.preparing(self.connection, query) as ahead:
                return self._execute_in_scope(ahead, query, *args, **kwargs)
        return self._execute_in_scope("", query, *args, **kwargs)

    def _execute_in_scope(self, before: str, query: Any, *args: Any, **kwargs: Any) -> Any:
        # Only a plain SELECT or a prepared statement can share a message with another statement.
        if self.can_join and isinstance(query, str) and query.startswith(("SELECT ", "EXECUTE ")):
            scope_settings, ahead = _scope_statement(self.connection)
            if before or ahead:
                return self._execute_joined(scope_settings, before + ahead, query, *args, **kwargs)
        elif not (isinstance(query, str) and query.startswith(_TRANSACTION_STATEMENTS)):
            apply_scope(self.connection)
            if before:
                psycopg.ClientCursor(self.connection).execute(before)
        return super().execute(query, *args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it

    def _execute_joined(
        self, scope_settings: tuple[str, str], ahead: str, query: str, *args: Any, **kwargs: Any
    ) -> Any:
        """Send the settings and the query in one message. Afterwards the cursor has the query's result only."""
        this: Any = self
        forget_scope(self.connection)
        super().execute(ahead + query, *args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it
        self.connection.portal_scope = scope_settings
        while this.nextset():
            pass
        this._query.query = (
            query.encode() if isinstance(query, prepared_statements.ExecuteText) else this._query.query[len(ahead) :]
        )
        return self

    def executemany(self, *args: Any, **kwargs: Any) -> Any:
        apply_scope(self.connection)
        return super().executemany(*args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        apply_scope(self.connection)
        return super().copy(*args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        apply_scope(self.connection)
        yield from super().stream(*args, **kwargs)  # type: ignore[misc]  # a mixin: psycopg's cursor comes after it


class ScopedCursor(_ScopedCursorMixin, base.Cursor):
    """A cursor with client-side binding, Django's default."""

    can_join = True


class ScopedServerBindingCursor(_ScopedCursorMixin, base.ServerBindingCursor):
    """A cursor with server-side binding (OPTIONS["server_side_binding"])."""


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = "tenants.postgresql.compiler"


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        binding = params["cursor_factory"] is base.ServerBindingCursor
        params["cursor_factory"] = ScopedServerBindingCursor if binding else ScopedCursor
        params = timeouts.CONNECTION_TIMEOUTS | params
        params["context"] = date_limits.adapters(settings.USE_TZ, self.timezone)
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not self.settings_dict.get("IS_OWNER"):  # the owner only runs migrations
            server_checks.require_safe_server(conn_params)
        connection = self._take_from_pool(conn_params) if self.pool else super().get_new_connection(conn_params)
        connection.portal_scope = _UNKNOWN_SCOPE if self.pool else _NO_SCOPE
        if not self.pool:
            connection.portal_planned = {}
        return connection

    def _take_from_pool(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection from the pool.

        While the database is unreachable, only one request at a time waits for it.
        """
        _outage.check()
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError:
            _outage.record()
            raise

    def create_cursor(self, name: str | None = None) -> Any:
        if name:  # a server-side cursor of Django's own class, which its caller executes at once
            apply_scope(self.connection)
        return super().create_cursor(name)

    def _rollback(self) -> None:
        forget_scope(self.connection)
        super()._rollback()  # type: ignore[misc]  # private to Django

    def _savepoint_rollback(self, sid: str) -> None:
        super()._savepoint_rollback(sid)  # type: ignore[misc]  # private to Django
        forget_scope(self.connection)

    def _close(self) -> None:
        forget_scope(self.connection)
        super()._close()  # type: ignore[misc]  # private to Django
