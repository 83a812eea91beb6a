"""Things that a dump needs to be useful, such as keys. Each one reads rows of the dump and returns what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from tenants import key_rotation, vault
from tenants.backup.reading import RowReader


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
