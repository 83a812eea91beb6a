"""Check a dump: read it once and collect all problems.

It is compared with the site's database, which has changed since. Rows that were deleted after the dump are ignored.
Rows that were added are recognised by their `id`, which counts up: the dump must have all rows up to its last `id`. A
few may be missing: those of transactions that were open at the time.

Things that a dump needs to be useful, such as keys, are its dependencies. Each one reads rows of the dump and returns
what is missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from django.db import connection

from tenants import key_rotation, vault
from tenants.backup.reading import Dump, RowReader, read_dump
from tenants.models import Tenant
from tenants.scope import across_tenants

#: The share of the rows from before the dump that must be in it.
MIN_SHARE = 0.99

# Without unlogged tables: their data may be lost in a crash and is not needed in a backup.
_TABLES = """
SELECT relname::text,
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id'),
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'id')
FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
    AND NOT relispartition AND relpersistence = 'p'
ORDER BY 1
"""
_DEFINITIONS = """
WITH ours AS (
    SELECT oid, relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition
)
SELECT 'table ' || relname FROM ours
UNION ALL SELECT format('policy %s of %s', polname, relname) FROM pg_policy JOIN ours ON ours.oid = polrelid
UNION ALL SELECT format('trigger %s of %s', tgname, relname) FROM pg_trigger JOIN ours ON ours.oid = tgrelid
    WHERE NOT tgisinternal
ORDER BY 1
"""
_NAMES_SHOWN = 5


def compare(dump: Dump) -> Iterator[str]:
    """Yield a sentence for each thing that is in the database but not in the dump."""
    with across_tenants("a backup holds all tenants"), connection.cursor() as cursor:
        cursor.execute(_DEFINITIONS)
        if lacking := [each for (each,) in cursor.fetchall() if each not in dump.definitions]:
            yield f"{len(lacking)} definitions are not in the dump: {join_names(lacking)}."
        slugs = dict(Tenant.objects.values_list("pk", "slug"))
        cursor.execute(_TABLES)
        for table, has_tenant, counts_up in cursor.fetchall():
            if table not in dump.tables:
                yield f"{table}: its rows are not in the dump."
            elif counts_up and (
                short := _missing_rows(dump, table, _count_older_rows(cursor, dump, table, has_tenant))
            ):
                yield _sentence(dump, table, short, slugs)


def join_names(names: list[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def _count_older_rows(cursor: Any, dump: Dump, table: str, has_tenant: bool) -> Counter[int | None]:
    """Count each tenant's rows that are older than the dump.

    These are rows up to the dump's last `id`. If the dump has no row of the table, the value of its sequence is the
    limit.
    """
    rows = dump.tables[table]
    last = dump.sequences.get(f"{table}_id_seq") if rows.last_id is None else rows.last_id
    quote = connection.ops.quote_name
    tenant, until = "tenant_id" if has_tenant else "NULL", "" if last is None else "WHERE id <= %s"
    cursor.execute(
        f"SELECT {tenant}, count(*) FROM {quote(table)} {until} GROUP BY 1",  # noqa: S608 - the names come from PostgreSQL's catalogue
        [] if last is None else [last],
    )
    return Counter(dict(cursor.fetchall()))


def _missing_rows(dump: Dump, table: str, older: Counter[int | None]) -> dict[int | None, int]:
    """Return the expected number of rows of each tenant that has too few in the dump."""
    have = dump.tables[table].count_by_tenant
    return {tenant: count for tenant, count in older.items() if have[tenant] < MIN_SHARE * count}


def _sentence(dump: Dump, table: str, short: dict[int | None, int], slugs: dict[int, str]) -> str:
    have = sum(dump.tables[table].count_by_tenant[tenant] for tenant in short)
    names = sorted(slugs.get(tenant, str(tenant)) for tenant in short if tenant is not None)
    return f"{table}: {have:,} of {sum(short.values()):,} rows" + (f", of {join_names(names)}" if names else "") + "."


class Dependency(Protocol):
    """Something without which a dump is useless."""

    def row_readers(self) -> Iterable[RowReader]:
        """Return the rows of the dump that this check needs."""

    def problems(self, *, is_alone: bool) -> Iterator[str]:
        """Yield a sentence for each problem, after all rows were read. With `is_alone`, query no database."""

    def summary(self) -> str:
        """Return what was found, for a dump without problems."""


class VaultKeys:
    """The keys of VAULT_KEYS: in each column, one secret per key is decrypted."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str], str] = {}

    def row_readers(self) -> Iterator[RowReader]:
        for column in key_rotation.columns():
            meta = column.model._meta
            owned = any(each.column == "tenant_id" for each in meta.local_fields)
            columns = (str(column.field.column), *(["tenant_id"] if owned else []))
            yield RowReader(meta.db_table, columns, partial(self._try_secret, column))

    def _try_secret(self, column: key_rotation.Column, secret: str | None, tenant_id: str | None = None) -> None:
        if secret is None:
            return
        sealed = bytes.fromhex(secret.removeprefix("\\x"))
        try:
            name = vault.key_name(sealed)
            if (name, column.label) in self._errors:
                return
            vault.open_sealed(sealed, bound_to=column.field.binding(int(tenant_id or 0)))
            self._errors[name, column.label] = ""
        except vault.VaultError as error:
            self._errors[name, column.label] = str(error)

    def problems(self, *, is_alone: bool) -> Iterator[str]:
        closed = defaultdict(list)
        for (name, label), error in self._errors.items():
            if error:
                closed[name].append(label)
        for name, labels in sorted(closed.items()):
            where = ", ".join(sorted(labels))
            if name in vault.key_ring().ciphers:
                yield f"VAULT_KEYS: the key {name!r} does not open what the dump holds in {where}: it is another key."
            else:
                yield f"VAULT_KEYS: the key {name!r} is missing, which sealed what the dump holds in {where}."

    def summary(self) -> str:
        names = sorted({name for name, _ in self._errors})
        return f"Its secrets open with the keys {', '.join(names)}." if names else "It holds no secrets."


_factories: list[Callable[[], Dependency]] = [VaultKeys]


def register(create: Callable[[], Dependency]) -> None:
    """Register a dependency; `create()` is called for each dump."""
    _factories.append(create)


def create_all() -> list[Dependency]:
    """Return the dependencies to check for one dump."""
    return [make() for make in _factories]


_HIDDEN = (
    "The dump has no row of any tenant: row security hid them from the role that wrote it. Write it as portal_backup, "
    "without --enable-row-security."
)


class BackupCheck:
    """A check of the dump `file`: `compare` returns problems as sentences, and `summary` is for a dump without any.

    With `is_alone` it is compared with no database. Raises UnreadableDump.
    """

    def __init__(self, file: Path, *, is_alone: bool) -> None:
        self._tenants: dict[int, str] = {}
        self._newest = ""
        self._parts = create_all()
        readers = [
            RowReader("tenants_tenant", ("id", "slug"), self._add_tenant),
            RowReader("tenants_auditentry", ("at",), self._add_entry),
            *(reader for part in self._parts for reader in part.row_readers()),
        ]
        self._dump = read_dump(file, readers)
        self.problems = [
            *self._own_problems(self._dump),
            *(self._missing_tables() if is_alone else compare(self._dump)),
        ]
        self.problems += [each for part in self._parts for each in part.problems(is_alone=is_alone)]

    def summary(self) -> str:
        """Return the contents of the dump as a sentence."""
        rows = sum(each.count_by_tenant.total() for each in self._dump.tables.values())
        held = f"{rows:,} rows in {len(self._dump.tables)} tables, of {len(self._tenants)} tenants"
        newest = f" The newest audit entry is of {self._newest[:16]}." if self._newest else ""
        return " ".join([f"The dump is complete: {held}.{newest}", *(part.summary() for part in self._parts)])

    def _add_tenant(self, pk: str, slug: str) -> None:
        self._tenants[int(pk)] = slug

    def _add_entry(self, at: str) -> None:
        self._newest = max(self._newest, at)

    def _own_problems(self, dump: Dump) -> Iterator[str]:
        """Yield problems that show in the dump alone: a tenant always has rows."""
        bound = dump.tables_with_policies() or dump.tables.keys()
        counted = [rows.count_by_tenant for table, rows in dump.tables.items() if table in bound]
        empty = [slug for pk, slug in self._tenants.items() if not any(count[pk] for count in counted)]
        if empty and len(empty) == len(self._tenants):
            yield _HIDDEN
        elif empty:
            yield f"The dump has no row of {join_names(empty)}."

    def _missing_tables(self) -> Iterator[str]:
        for table in sorted(connection.introspection.django_table_names()):
            if table not in self._dump.tables:
                yield f"{table}: its rows are not in the dump."
