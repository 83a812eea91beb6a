"""QR codes: issued, stored with their member, mailed; each belongs to one person of a tenant."""

import base64
import secrets
from datetime import datetime
from typing import Any

from accessapi import limits
from sandbox.service.models import Guest, Mail, Member, Tenant


def new_code() -> str:
    return f"SL{secrets.token_hex(8).upper()}"


def owners(tenant: Tenant, codes: set[str]) -> dict[str, str]:
    """Return code -> member_id or guest_id of its owner. A door could not distinguish two people with one code."""
    if not codes:
        return {}
    members = Member.objects.filter(tenant=tenant, qr_data__in=codes).values_list("qr_data", "member_id")
    guests = Guest.objects.filter(tenant=tenant, qr_data__in=codes).values_list("qr_data", "guest_id")
    return {code: owner for code, owner in [*members, *guests] if code}


def set_code(member: Member, qrcode: dict[str, Any] | None) -> None:
    """Give the member a static code (data or e-mail), a one-time code, or None to remove it.

    The seed is kept as long as one-time QR is.
    """
    member.listed.pop("qrcode", None)
    member.detail.pop("qrcode", None)
    if qrcode is None:
        member.qr_data = member.totp_seed = None
        return
    member.qr_data = qrcode.get("data") or new_code()
    one_time = qrcode.get("one_time_qr") or {}
    if one_time.get("enabled"):
        member.totp_seed = member.totp_seed or base64.b32encode(secrets.token_bytes(20)).decode()
        defaults = {"timestep": limits.TIMESTEP_DEFAULT, "skew": 0}
        qrcode = qrcode | {"one_time_qr": defaults | one_time | {"totp_seed": member.totp_seed}}
    else:
        member.totp_seed = None
    member.detail["qrcode"] = qrcode
    member.listed["qrcode"] = {name: qrcode[name] for name in ("data", "email") if name in qrcode}


def build_mail(person: Member | Guest, email: str, at: datetime, remarks: str = "") -> Mail:
    """Return the mail, not yet saved, that sends this person their code."""
    recipient = (
        (person.member_id, person.listed["member_name"])
        if isinstance(person, Member)
        else (person.guest_id, person.name)
    )
    return Mail(
        tenant=person.tenant,
        at=at,
        email=email,
        recipient_id=recipient[0],
        recipient_name=recipient[1],
        qr_data=person.qr_data or "",
        remarks=remarks,
    )
