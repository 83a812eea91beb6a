"""Read a dump without restoring it: its definitions, row counts, and the rows that a dependency needs.

`pg_restore` turns any dump that is not plain SQL into SQL. This is read line by line, so that memory does not grow with
it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_END = b"\\.\n"
_COPY = re.compile(r"COPY public\.(\S+) \((.*)\) FROM stdin;")
_DEFINED = re.compile(
    r"CREATE (?:UNLOGGED |CONSTRAINT )?(TABLE|POLICY|TRIGGER) (?:public\.)?(\S+)(?:.* ON public\.(\S+))?"
)
_PART_OF = re.compile(r"ALTER TABLE ONLY public\.(\S+) ATTACH PARTITION public\.(\S+) ")
_SEQUENCE = re.compile(r"SELECT pg_catalog\.setval\('public\.(\S+)', (\d+), (true|false)\)")
_ESCAPED = re.compile(r"\\(.)")
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class UnreadableDump(Exception):
    """The dump cannot be read to its end. The message is a sentence for the operator."""


@dataclass(frozen=True)
class RowReader:
    """Reads rows of a table: `on_row` gets these columns of each row, as PostgreSQL's text or None."""

    table: str
    columns: tuple[str, ...]
    on_row: Callable[..., None]


@dataclass
class TableRows:
    """The rows of one table: their number per tenant (None: rows without a tenant), and the highest `id`."""

    count_by_tenant: Counter[int | None] = field(default_factory=Counter)
    last_id: int | None = None


@dataclass
class Dump:
    """The contents of a dump. Rows of a partition count for the partitioned table."""

    tables: dict[str, TableRows] = field(default_factory=lambda: defaultdict(TableRows))
    #: "table x", "policy y of x", "trigger z of x".
    definitions: set[str] = field(default_factory=set)
    #: The last value of each sequence; 0 if it was not used.
    sequences: dict[str, int] = field(default_factory=dict)
    _partitioned_tables: dict[str, str] = field(default_factory=dict)

    def read_definition(self, line: str) -> None:
        """Read a line of SQL that is not a row."""
        if found := _DEFINED.match(line):
            kind, name, table = found.groups()
            self.definitions.add(f"{kind.lower()} {name}" + (f" of {table}" if table else ""))
        elif found := _PART_OF.match(line):
            self._partitioned_tables[found[2]] = found[1]
        elif found := _SEQUENCE.match(line):
            self.sequences[found[1]] = int(found[2]) if found[3] == "true" else 0

    def tables_with_policies(self) -> set[str]:
        """Return the tables that have row security."""
        return {each.rpartition(" of ")[2] for each in self.definitions if each.startswith("policy ")}

    def partitioned_table_of(self, table: str) -> str:
        """Return the partitioned table of this partition, or the table itself."""
        return self._partitioned_tables.get(table, table)


def read_dump(file: Path, readers: Iterable[RowReader]) -> Dump:
    """Read a dump, and pass its rows to `readers`. Raises UnreadableDump."""
    dump, readers_of_table = Dump(), defaultdict(list)
    for reader in readers:
        readers_of_table[reader.table].append(reader)
    with _open_as_sql(file) as lines:
        for line in lines:
            text = line.decode()
            if found := _COPY.match(text):
                table = dump.partitioned_table_of(found[1])
                _read_rows(lines, found[2].replace('"', "").split(", "), dump.tables[table], readers_of_table[table])
            else:
                dump.read_definition(text)
    return dump


def _read_rows(lines: IO[bytes], columns: list[str], into: TableRows, readers: list[RowReader]) -> None:
    """Count the rows of one block, and pass them to the readers."""
    where = {name: number for number, name in enumerate(columns)}
    tenant, key = where.get("tenant_id"), where.get("id")
    # A dump of an earlier version may lack a column.
    selected = [
        (reader.on_row, [where[name] for name in reader.columns])
        for reader in readers
        if {*reader.columns} <= where.keys()
    ]
    for line in lines:
        if line == _END or not line.endswith(b"\n"):  # the second: the dump was cut off, which pg_restore reports
            return
        values = line[:-1].split(b"\t")
        into.count_by_tenant[None if tenant is None else int(values[tenant])] += 1
        if key is not None:
            into.last_id = max(into.last_id or 0, int(values[key]))
        for take, numbers in selected:
            take(*(_parse_value(values[number]) for number in numbers))


def _parse_value(written: bytes) -> str | None:
    if written == b"\\N":
        return None
    return _ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), written.decode())


@contextmanager
def _open_as_sql(file: Path) -> Iterator[IO[bytes]]:
    program = shutil.which("pg_restore")
    if program is None:
        raise UnreadableDump("pg_restore is not on the path: install PostgreSQL's client programs.")
    command = [program, "--file", "-", str(file.absolute())]
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as child:
            assert child.stdout is not None  # noqa: S101 - it is a pipe
            yield child.stdout
        if child.returncode:
            errors.seek(0)
            raise UnreadableDump(_error_text(errors.read().decode(errors="replace"), child.returncode))


def _error_text(errors: str, code: int) -> str:
    why = errors.partition("error: ")[2].partition("\n")[0] or f"it ended with code {code}"
    if "unsupported version" in why:
        return f"pg_restore is older than the pg_dump that wrote the dump: put a newer one first on the path ({why})."
    return f"pg_restore cannot read the dump to its end: {why}."
