"""A member as its list shows it, by the names of the specification: what bulk requests change is compared with this."""

from typing import Any

from accessapi.resources import write_moment
from portal.core.mirror.models import Member

# What single reads alone tell: a list can neither confirm nor refute it.
HIDDEN = frozenset({"devices_pass", "keys_pass", "privilege"})


def present_values(member: Member) -> dict[str, Any]:
    """What the mirror holds of a member's listed fields, as they are written."""
    return {
        "member_name": member.member_name,
        "member_code": member.member_code,
        "membergroup_id": member.membergroup_id,
        "card_data": member.card_data or "",
        "qrcode": member.qrcode,
        "use_date_start": _written(member.use_date_start),
        "use_date_end": _written(member.use_date_end),
    }


def _written(moment: Any) -> str | None:
    return None if moment is None else write_moment(moment)


def same(name: str, wanted: Any, present: Any) -> bool:
    """Whether a field has this value already; empty and absent are one."""
    return same_qr(wanted, present) if name == "qrcode" else (wanted or "") == (present or "")


def same_qr(wanted: Any, present: Any) -> bool:
    """Whether the member has this very QR code already: an address that has one is not sent another."""
    if wanted is None or not isinstance(present, dict):
        return wanted is None and not present
    return all(present.get(name) == value for name, value in wanted.items())
