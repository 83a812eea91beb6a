"""What the audit trail may hold of a guest's body: codes and addresses are named, not told."""

from collections.abc import Mapping
from typing import Any

NEW, OLD = "••••", "•••"  # differ, so that a change shows as one


def address(email: str, mask: str = NEW) -> str:
    """`y••••` for an e-mail address; empty for none."""
    return f"{email[:1]}{mask}" if email else ""


def unnamed(fields: Mapping[str, Any], mask: str = NEW) -> dict[str, Any]:
    """Fields that name people, named and not told: nothing can ever be taken out of the trail (docs/decisions/0009)."""
    return {name: mask if value else "" for name, value in fields.items()}


def masked(body: Mapping[str, Any], mask: str = NEW) -> dict[str, Any]:
    """A body of operation 20 or 22 without its secrets."""
    shown = {name: value for name, value in body.items() if name not in ("qrcode_issuing_method", "qrcode_data")}
    shown |= unnamed({name: shown[name] for name in ("guest_name",) if name in shown}, mask)
    if "email" in shown:
        shown["email"] = address(str(shown["email"] or ""), mask)
    method = body.get("qrcode_issuing_method") or {}
    if "email" in method:
        shown["code_sent_to"] = address(str(method["email"]), mask)
        if method.get("remarks"):
            shown["remarks"] = method["remarks"]
    if "qrcode_data" in method or "qrcode_data" in body:
        shown["code"] = mask
    return shown
