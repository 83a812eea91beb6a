"""Convert the service's data of members and guests to the mirror's columns, with secrets encrypted.

Malformed values of single fields never raise an error.

`Member.last_seen_at` is the time of a member's newest log record, to find members without records quickly. It is up to
a day old. It changes only when a record is a day newer, because each change writes the member's row and all index
entries. None: the portal has no record about this member.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import connection as database

from portal.domain.people.fields import FieldSet, TenantKeys, keyed_digest, keyed_hash
from portal.domain.people.guest_fields import GUEST
from portal.domain.people.member_fields import CARD, MEMBER
from portal.domain.people.text_folding import code_pieces, name_pieces
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.scope import current_tenant_id
from tenants.vault import EncryptedField

_SECRET = re.compile(r"seed|secret|passw|token|credential|(^|_)(pin|otp|totp|card|qr|face)(_|$)", re.IGNORECASE)


class RowBuilder:
    """A converter for one tenant's items of one kind. `purpose`: the purpose of the key for digests."""

    fields: ClassVar[FieldSet]
    purpose: ClassVar[str]

    def __init__(self, tenant_id: int) -> None:
        self.tenant_id = tenant_id
        self.keys = TenantKeys(tenant_id)
        columns = {field.name: field for field in self.fields.model._meta.concrete_fields}
        self._sealing = {
            name: field for name in self.fields.listed_columns if isinstance(field := columns[name], EncryptedField)
        }

    def digest(self, item: Mapping[str, Any]) -> bytes:
        """Return the hash of an item, to detect changes. It is keyed, so that it reveals no secret."""
        return keyed_digest(self.keys.of(self.purpose), item)

    def values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the column values for an item from a list, a single read or our own write. Secrets are unencrypted."""
        unexpected = unknown_fields(item, self.fields.names)
        values: list[Any] = []
        for keep in self.fields.column_readers:
            values += keep(item, self.keys, unexpected)
        return dict(zip(self.fields.columns, [*values, unexpected], strict=True))

    def encrypted_values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the column values with secrets encrypted, for rows that are written in SQL."""
        values = self.values(item)
        for name, field in self._sealing.items():
            if (sealed := field.seal(self.tenant_id, values[name])) is not None:
                values[name] = sealed.data
        values["extra"] = json.dumps(values["extra"]) if values["extra"] else "{}"
        return values

    def apply(self, row: Any, item: Mapping[str, Any]) -> None:
        """Set the columns of a row from the fields in `item`; malformed values are put into the row's `extra`."""
        values = self.values(item)
        for name in item.keys() & self.fields.columns_of.keys():
            for column in self.fields.columns_of[name]:
                setattr(row, column, values[column])
        names = {name for name in item if name in self.fields.columns_of}
        unexpected = {name: value for name, value in values["extra"].items() if name in names}
        row.extra = {**{name: value for name, value in row.extra.items() if name not in names}, **unexpected}


class MemberRowBuilder(RowBuilder):
    """A converter for members and their search pieces. It caches the hashes of pieces."""

    fields, purpose = MEMBER, "digest"

    def __init__(self, tenant_id: int) -> None:
        super().__init__(tenant_id)
        self._hashes: dict[str, int] = {}

    def hashes(self, pieces: set[str]) -> list[int]:
        """Return pieces of names and codes as numbers, hashed with this tenant's key."""
        known, key = self._hashes, self.keys.of("piece")
        for piece in pieces:
            if piece not in known:
                known[piece] = int.from_bytes(keyed_hash(key, piece, 4), "big", signed=True)
        return sorted({known[piece] for piece in pieces})

    def pieces(self, name_key: str, code_key: str) -> list[int]:
        return self.hashes(name_pieces(name_key) | code_pieces(code_key))

    def card_fingerprint(self, card: str) -> bytes:
        """Return the hash by which a card's number is found."""
        return CARD.fingerprint_of(card, self.keys)

    def incoming_row(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return an item of operation 3 as a row of the swap's table, ready for COPY."""
        values = self.encrypted_values(item)
        found_by = "{" + ",".join(map(str, self.pieces(values["name_key"], values["code_key"]))) + "}"
        listed = map(values.__getitem__, MEMBER.listed_columns)
        return str(item["member_id"]), self.digest(item), *listed, values["extra"], found_by


class GuestRowBuilder(RowBuilder):
    """A converter for guests."""

    fields, purpose = GUEST, "guest digest"


def sql_types(fields: FieldSet) -> dict[str, str]:
    """Return the PostgreSQL type of each column that lists contain."""
    columns = {name: fields.model._meta.get_field(name).db_type(database) or "" for name in fields.listed_columns}
    return {name: kind.partition("(")[0] for name, kind in columns.items()}


def unknown_fields(item: Mapping[str, Any], known: Set[str]) -> dict[str, Any]:
    """Return the fields that the specification does not name, unchanged, without those whose names suggest secrets."""
    return {key: item[key] for key in item.keys() - known if not is_secret_name(key)}


def is_secret_name(key: str) -> bool:
    """Return whether a field's name suggests that its value is secret."""
    return _SECRET.search(key) is not None


PRECISION = timedelta(days=1)
_LOCK = AdvisoryLock("people.last_seen")

# Rows are locked in the same order as in our own writes, to avoid a deadlock.
_UPDATE = """
WITH newest AS (
    SELECT member_id, max(at) AS at FROM history_history
    WHERE tenant_id = %(tenant)s AND id = ANY(%(new)s) AND NOT member_id = '' GROUP BY member_id
), outdated AS (
    SELECT m.id, newest.at
    FROM newest JOIN people_member m ON m.tenant_id = %(tenant)s AND m.member_id = newest.member_id
    WHERE m.last_seen_at IS NULL OR m.last_seen_at < newest.at - %(grain)s
    ORDER BY m.member_id FOR UPDATE OF m
)
UPDATE people_member m SET last_seen_at = outdated.at FROM outdated WHERE m.id = outdated.id
"""
_NEWEST = """
SELECT member_id, max(at) FROM history_history
WHERE tenant_id = %(tenant)s AND member_id = ANY(%(wanted)s) AND NOT member_id = '' GROUP BY member_id
"""


def update_last_seen(record_keys: Sequence[int]) -> None:
    """Update the members of the records with these keys. Must be called in the transaction that inserted them."""
    lock_last_seen()
    values: dict[str, Any] = {"tenant": current_tenant_id(), "new": list(record_keys), "grain": PRECISION}
    with database.cursor() as cursor:
        cursor.execute(_UPDATE, values)


def last_seen_of(member_ids: Iterable[str]) -> dict[str, datetime]:
    """Return the time of each member's newest record, for members that are added after their records."""
    ids = set(member_ids)
    if not ids:
        return {}
    with database.cursor() as cursor:
        cursor.execute(_NEWEST, {"tenant": current_tenant_id(), "wanted": list(ids)})
        return dict(cursor.fetchall())


def lock_last_seen() -> None:
    """Lock `last_seen_at` until the transaction ends.

    New records and a new list of members must not be stored at the same time. Otherwise, a record could miss its new
    member, and the member the record.
    """
    _LOCK.hold_until_commit(current_tenant_id())
