"""Operations 11 and 12: temporary key use and one-time QR codes."""

from typing import Any

from sandbox.engine import temporary_keys, totp
from sandbox.engine.members import lock_members
from sandbox.errors import invalid, setting_off

from .bodies import read_body
from .call import Call
from .members import member_of


def temporary_use(call: Call) -> dict[str, Any]:
    """Let a member with permission use the named keys until the timer, counted from receipt, is over.

    The box's setting for keys that are not normally used must be on. Boxes without power or connection are left out of
    the answer and do not change. A later call for a key replaces the earlier one, so that 0 ends it (assumed).
    """
    call.query()
    body = read_body(call)
    with lock_members(call.tenant):
        sent = temporary_keys.grant_use(call.tenant, member_of(call), body, call.at)
    return {"sent_device_id_list": sent}


def one_time_qr(call: Call) -> dict[str, Any]:
    """Return the current QR code by RFC 6238 with the member's seed and timestep (published), valid for the rest of the
    window. Refuse members without one-time QR.
    """
    version = call.query("version").get("version", totp.VERSION)
    if version != totp.VERSION:
        raise invalid(f"version: must be {totp.VERSION}")
    member = member_of(call)
    settings = member.detail.get("qrcode", {}).get("one_time_qr", {})
    if not (settings.get("enabled") and member.totp_seed and member.qr_data):
        raise setting_off("the member has no one-time QR")
    code = totp.code_at(member.totp_seed, call.at, settings["timestep"])
    return {
        "member_id": member.member_id,
        "one_time_qr_data": totp.write_qr_text(member.qr_data, code),
        "version": version,
        "expiration_in_seconds": totp.seconds_left(call.at, settings["timestep"]),
    }


HANDLERS = {"temporary_use": temporary_use, "one_time_qr": one_time_qr}
