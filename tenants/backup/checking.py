"""Check a dump: read it once and collect all problems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.db import connection

from tenants.backup import comparison, dependencies
from tenants.backup.reading import Dump, RowReader, read_dump

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
        self._parts = dependencies.create_all()
        looks = [
            RowReader("tenants_tenant", ("id", "slug"), self._add_tenant),
            RowReader("tenants_auditentry", ("at",), self._add_entry),
            *(look for part in self._parts for look in part.row_readers()),
        ]
        self._dump = read_dump(file, looks)
        self.problems = [
            *self._own_problems(self._dump),
            *(self._missing_tables() if is_alone else comparison.compare(self._dump)),
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
            yield f"The dump has no row of {comparison.join_names(empty)}."

    def _missing_tables(self) -> Iterator[str]:
        for table in sorted(connection.introspection.django_table_names()):
            if table not in self._dump.tables:
                yield f"{table}: its rows are not in the dump."
