"""From a member as the service lists it to the columns of the mirror. Whatever it says about one field, none raises."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from accessapi.limits import JST
from portal.core.mirror.folding import code_pieces, fold, name_pieces
from portal.core.mirror.keyed import as_json, digest, hashed
from portal.core.mirror.models import NEVER, UNREADABLE, Member
from portal.core.mirror.models.state import sealing_field
from tenants import vault

_KNOWN = {
    "member_id", "member_name", "member_code", "membergroup_id", "membergroup_name", "card_data", "qrcode",
    "face_data", "use_date_start", "use_date_end",
}  # fmt: skip
# Told by the single read, kept elsewhere or not at all.
_PRIVATE = {"profile_image_url", "devices_pass", "keys_pass", "privilege", "account_type"}

_NAMED = _KNOWN | _PRIVATE
_SECRET = re.compile(r"seed|secret|passw|token|credential|(^|_)(pin|otp|totp|card|qr|face)(_|$)", re.IGNORECASE)


class Listed(NamedTuple):
    """The columns of Member that a list item fills, ready for COPY, and the hashes it is found by."""

    member_id: str
    digest: bytes
    member_name: str
    member_code: str
    membergroup_id: str
    membergroup_name: str
    name_key: str
    code_key: str
    group_key: str
    card_data: bytes | None
    card_fingerprint: bytes | None
    qrcode: bytes | None
    qr_fingerprint: bytes | None
    has_card: bool
    has_qr: bool
    has_face: bool
    use_date_start: datetime | None
    use_date_end: datetime | None
    use_end_key: int
    extra: str
    pieces: str


@dataclass
class Reader:
    """Reads the members of one tenant. Keeps the tenant's derived keys and the hashes already worked out."""

    tenant_id: int
    _hashes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # One derivation each: the keys come from the vault and stay what they are when its sealing keys rotate.
        self._piece_key, self._digest_key, self._card_key, self._qr_key = (
            vault.fingerprint(self.tenant_id, "mirror", purpose) for purpose in ("piece", "digest", "card", "qr")
        )
        self._card = _sealing(self.tenant_id, "card_data")
        self._qr = _sealing(self.tenant_id, "qrcode")

    def digest(self, item: Mapping[str, Any]) -> bytes:
        """Equal when the service says the same of a member again. Keyed: it tells nothing of a card number."""
        return digest(self._digest_key, item)

    def hashes(self, pieces: set[str]) -> list[int]:
        """Pieces of names and codes as numbers that mean nothing outside of this tenant."""
        known = self._hashes
        for piece in pieces:
            if piece not in known:
                known[piece] = int.from_bytes(hashed(self._piece_key, piece, 4), "big", signed=True)
        return sorted({known[piece] for piece in pieces})

    def card_fingerprint(self, card: str) -> bytes:
        """By what a card number is found again. Cards are compared without case and width."""
        return hashed(self._card_key, fold(card), 32)

    def read(self, item: Mapping[str, Any], digest: bytes) -> Listed:
        """An item of operation 3 as columns."""
        values = self.values(item)
        card, qrcode = values["card_data"], values["qrcode"]
        return Listed(
            member_id=str(item["member_id"]),
            digest=digest,
            **{name: values[name] for name in _PLAIN},
            card_data=vault.seal(card.encode(), bound_to=self._card) if card is not None else None,
            qrcode=vault.seal(as_json(qrcode).encode(), bound_to=self._qr) if qrcode is not None else None,
            extra=json.dumps(values["extra"]) if values["extra"] else "{}",
            pieces="{" + ",".join(map(str, self.pieces(values["name_key"], values["code_key"]))) + "}",
        )

    def pieces(self, name_key: str, code_key: str) -> list[int]:
        return self.hashes(name_pieces(name_key) | code_pieces(code_key))

    def values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The columns that follow from an item, secrets in clear: what the list, a single read and our writes share."""
        odd = unknown(item, _NAMED)
        name, code = _text(item, "member_name", odd), _text(item, "member_code", odd)
        group = _text(item, "membergroup_name", odd)
        card = _text(item, "card_data", odd) or None
        qrcode = without_seed(item.get("qrcode")) or None
        end = moment(item, "use_date_end", odd)
        return {
            "member_name": name,
            "member_code": code,
            "membergroup_id": _text(item, "membergroup_id", odd),
            "membergroup_name": group,
            "name_key": fold(name),
            "code_key": fold(code),
            "group_key": fold(group),
            "card_data": card,
            "card_fingerprint": self.card_fingerprint(card) if card else None,
            "qrcode": qrcode,
            "qr_fingerprint": self.qr_fingerprint(qrcode),
            "has_card": card is not None,
            "has_qr": qrcode is not None,
            "has_face": bool(item.get("face_data")),
            "use_date_start": moment(item, "use_date_start", odd),
            "use_date_end": end,
            "use_end_key": end_key(end, unreadable="use_date_end" in odd),
            "extra": odd,
        }

    def qr_fingerprint(self, qrcode: Any) -> bytes | None:
        """Equal while the code itself is the same: the list tells less about a QR code than a single read."""
        if qrcode is None:
            return None
        told = [qrcode.get("data"), qrcode.get("email")] if isinstance(qrcode, dict) else qrcode
        return hashed(self._qr_key, as_json(told), 32)


_PLAIN = (
    "member_name", "member_code", "membergroup_id", "membergroup_name", "name_key", "code_key", "group_key",
    "card_fingerprint", "qr_fingerprint", "has_card", "has_qr", "has_face", "use_date_start", "use_date_end",
    "use_end_key",
)  # fmt: skip


def unknown(item: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    """Fields that the specification does not name, as they came, but for those that sound like secrets."""
    return {key: item[key] for key in item.keys() - known if not sounds_secret(key)}


def sounds_secret(key: str) -> bool:
    """Whether a field of this name is better not kept in clear."""
    return _SECRET.search(key) is not None


def without_seed(qrcode: Any) -> Any:
    """A QR code as it may rest: with the seed of a one-time code in hand, anyone could make its codes for ever."""
    if isinstance(qrcode, dict):
        return {key: without_seed(value) for key, value in qrcode.items() if key != "totp_seed"}
    return qrcode


def moment(item: Mapping[str, Any], key: str, odd: dict[str, Any]) -> datetime | None:
    """A datetime of the service; what is none goes to `odd` as it came."""
    value = item.get(key)
    if value is None or value == "":
        return None
    try:
        read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        read = read if read.tzinfo else read.replace(tzinfo=JST)
        if not 1900 <= read.year <= 9998:
            raise ValueError("outside of what the database and the clock can hold")
    except (ValueError, TypeError):
        odd[key] = value
        return None
    return read


def end_key(end: datetime | None, *, unreadable: bool = False) -> int:
    """`use_date_end` as a number that sorts and compares without nulls."""
    if end is None:
        return UNREADABLE if unreadable else NEVER
    return int(end.timestamp())


def _text(item: Mapping[str, Any], key: str, odd: dict[str, Any]) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if key != "card_data":
        odd[key] = value
        return ""
    return as_json(value)


def _sealing(tenant_id: int, name: str) -> str:
    return sealing_field(Member, name).binding(tenant_id)
