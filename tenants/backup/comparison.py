"""Compare a dump with the site's database, which has changed since.

Rows that were deleted after the dump are ignored. Rows that were added are recognised by their `id`, which counts up:
the dump must have all rows up to its last `id`. A few may be missing: those of transactions that were open at the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import connection

from tenants.backup.reading import Dump
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
