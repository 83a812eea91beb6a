"""From what the service tells of a member or a guest to the columns of the mirror, and back to none of its secrets.

Whatever it says about one field, none raises.
"""

import json
import re
from collections.abc import Mapping, Set
from typing import Any, ClassVar

from django.db import connection as database

from portal.core.mirror.fields.field import Fields
from portal.core.mirror.fields.guests import GUEST
from portal.core.mirror.fields.members import CARD, MEMBER
from portal.core.mirror.folding import code_pieces, name_pieces
from portal.core.mirror.keyed import Keys, digest, hashed
from tenants.vault import EncryptedField

_SECRET = re.compile(r"seed|secret|passw|token|credential|(^|_)(pin|otp|totp|card|qr|face)(_|$)", re.IGNORECASE)


class Reader:
    """Reads one tenant's things of one kind. `purpose`: what its items' digests are keyed for."""

    fields: ClassVar[Fields]
    purpose: ClassVar[str]

    def __init__(self, tenant_id: int) -> None:
        self.tenant_id = tenant_id
        self.keys = Keys(tenant_id)
        columns = {field.name: field for field in self.fields.model._meta.concrete_fields}
        self._sealing = {
            name: field for name in self.fields.listed if isinstance(field := columns[name], EncryptedField)
        }

    def digest(self, item: Mapping[str, Any]) -> bytes:
        """Return what is equal when the service says the same again. Keyed: it tells nothing of a secret."""
        return digest(self.keys.of(self.purpose), item)

    def values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The columns that follow from an item, secrets in clear: what the list, a single read and our writes share."""
        odd = unknown(item, self.fields.names)
        values: list[Any] = []
        for keep in self.fields.kept:
            values += keep(item, self.keys, odd)
        return dict(zip(self.fields.columns, [*values, odd], strict=True))

    def sealed(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The same as they rest, for rows that are written in SQL."""
        values = self.values(item)
        for name, field in self._sealing.items():
            if values[name] is not None:
                values[name] = field.seal(self.tenant_id, values[name]).data
        values["extra"] = json.dumps(values["extra"]) if values["extra"] else "{}"
        return values

    def apply(self, row: Any, told: Mapping[str, Any]) -> None:
        """Set the columns of a row that follow from the fields told; what is odd about them goes to its `extra`."""
        values = self.values(told)
        for name in told.keys() & self.fields.columns_of.keys():
            for column in self.fields.columns_of[name]:
                setattr(row, column, values[column])
        said = {name for name in told if name in self.fields.columns_of}
        odd = {name: value for name, value in values["extra"].items() if name in said}
        row.extra = {**{name: value for name, value in row.extra.items() if name not in said}, **odd}


class MemberReader(Reader):
    """Reads members, and knows by what they are found. Keeps the hashes already worked out."""

    fields, purpose = MEMBER, "digest"

    def __init__(self, tenant_id: int) -> None:
        super().__init__(tenant_id)
        self._hashes: dict[str, int] = {}

    def hashes(self, pieces: set[str]) -> list[int]:
        """Return pieces of names and codes as numbers that mean nothing outside of this tenant."""
        known, key = self._hashes, self.keys.of("piece")
        for piece in pieces:
            if piece not in known:
                known[piece] = int.from_bytes(hashed(key, piece, 4), "big", signed=True)
        return sorted({known[piece] for piece in pieces})

    def pieces(self, name_key: str, code_key: str) -> list[int]:
        return self.hashes(name_pieces(name_key) | code_pieces(code_key))

    def card_fingerprint(self, card: str) -> bytes:
        """Return by what a card's number is found again."""
        return CARD.print(card, self.keys)

    def incoming(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return an item of operation 3 as a row of the swap's table, ready for COPY."""
        values = self.sealed(item)
        found_by = "{" + ",".join(map(str, self.pieces(values["name_key"], values["code_key"]))) + "}"
        told = map(values.__getitem__, MEMBER.listed)
        return str(item["member_id"]), self.digest(item), *told, values["extra"], found_by


class GuestReader(Reader):
    """Reads guests."""

    fields, purpose = GUEST, "guest digest"


def sql_types(fields: Fields) -> dict[str, str]:
    """Return the type of each column that lists tell, as PostgreSQL calls it."""
    columns = {name: fields.model._meta.get_field(name).db_type(database) or "" for name in fields.listed}
    return {name: kind.partition("(")[0] for name, kind in columns.items()}


def unknown(item: Mapping[str, Any], known: Set[str]) -> dict[str, Any]:
    """Fields that the specification does not name, as they came, but for those that sound like secrets."""
    return {key: item[key] for key in item.keys() - known if not sounds_secret(key)}


def sounds_secret(key: str) -> bool:
    """Whether a field of this name is better not kept in clear."""
    return _SECRET.search(key) is not None
