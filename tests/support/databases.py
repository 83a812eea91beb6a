"""Databases for tests: copies of one that is migrated once for the whole run.

Test workers, the sites of the promise tests and every sandbox begin with a copy. This takes a tenth of a second each;
migrating takes seconds. The migrated database's name contains a hash of its migrations, so that long-lived services can
reuse it until the migrations change. The launcher's own PostgreSQL already contains them (stack/services.py,
which runs this module).

Databases are created by the role that owns their tables; programs and tests sign in as the site's role.
"""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.db import connection
from psycopg import sql

from stack import services
from stack.paths import ROOT
from stack.services import MIGRATED_SITES, SHORT_LIVED_VARIABLE

_LOCK = 20260101  # an arbitrary number that no other lock uses


@contextmanager
def migrated_copy(site: str) -> Iterator[str]:
    """Yield the address of a fresh, migrated database of "portal" or "sandbox"; drop it afterwards."""
    with _fresh(site, of=template(site)) as address:
        yield address


@contextmanager
def empty(site: str) -> Iterator[str]:
    """Yield the address of an empty database; drop it afterwards."""
    with _fresh(site, of="template1") as address:
        yield address


def template(site: str) -> str:
    """Return the name of the run's migrated database of this site. The first caller creates it."""
    name = services.database_name(site)
    with _server(site) as server:
        server.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        if not _is_there(server, name):
            beside = f"{name}_{secrets.token_hex(3)}"
            _create(server, beside, "template1")
            _migrate(site, beside)
            server.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*map(sql.Identifier, (beside, name))))
    return name


def forget() -> None:
    """Drop the migrated databases of this run, unless their server is temporary."""
    for site in MIGRATED_SITES:
        _drop(site, services.database_name(site))


@contextmanager
def _fresh(site: str, *, of: str) -> Iterator[str]:
    name = f"{site}_{secrets.token_hex(6)}"
    with _server(site) as server:
        _create(server, name, of)
    try:
        yield _address(site, name)
    finally:
        _drop(site, name)


def _drop(site: str, name: str) -> None:
    if os.environ.get(SHORT_LIVED_VARIABLE):
        return
    with _server(site) as server:
        if _is_there(server, name):
            server.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(sql.Identifier(name)))
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _is_there(server: psycopg.Connection, name: str) -> bool:
    return server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is not None


def _create(server: psycopg.Connection, name: str, of: str) -> None:
    create = "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy"  # the default strategy takes five times as long
    server.execute(sql.SQL(create).format(sql.Identifier(name), sql.Identifier(of)))


def _migrate(site: str, name: str) -> None:
    command, variables, _ = MIGRATED_SITES[site]
    environment = os.environ | dict(zip(variables, (_address(site, name), address_of_owner(site, name)), strict=True))
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    migrate = [sys.executable, command, "migrate", "--verbosity", "0", "--skip-checks"]
    done = subprocess.run(migrate, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _server(site: str) -> psycopg.Connection:
    return psycopg.connect(address_of_owner(site, "postgres"), autocommit=True)


def _address(site: str, name: str) -> str:
    return _of(MIGRATED_SITES[site][1][0], name)


def address_of_owner(site: str, name: str) -> str:
    """Return the address of this database for the role that owns its tables."""
    return _of(MIGRATED_SITES[site][1][1], name)


def _of(variable: str, name: str) -> str:
    given = os.environ.get(variable) or os.environ["DATABASE_URL"]
    return urlunsplit(urlsplit(given)._replace(path=f"/{name}"))


@contextmanager
def as_owner() -> Iterator[psycopg.Connection]:
    """Yield a session of the role that owns the tables of the test's database, with every tenant's rows.

    It does not see rows that the test has not committed.
    """
    name = str(connection.settings_dict["NAME"])
    with psycopg.connect(address_of_owner("portal", name), autocommit=True) as owner:
        owner.execute("SET portal.across = 'on'")
        yield owner


if __name__ == "__main__":
    for each in MIGRATED_SITES:
        template(each)
