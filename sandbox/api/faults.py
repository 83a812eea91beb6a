"""Errors as the service words them (specification: Errors). Codes besides 40002 and 40901 are assumed."""

from http import HTTPStatus
from typing import Any

INVALID = "40002"
UNAUTHORISED = "40101"
SCOPE_MISSING = "40301"
CONTRACT_MISSING = "40302"
LICENCE_MISSING = "40303"
SETTING_OFF = "40304"
KEY_NOT_PERMITTED = "40305"
USAGE_REACHED = "40306"
NOT_FOUND = "40401"
VIDEO_LATER = "40402"
NO_VIDEO = "40403"
CARD_TAKEN = "40901"
FACE_PRESENT = "40902"
QR_TAKEN = "40903"
CAMERA_AWAY = "40904"
ADDRESS_EXPIRED = "41001"
TOO_LARGE = "41301"
LIMITED = "42901"
FAILED = "50001"


class Fault(Exception):
    """A refusal: HTTP status, five-digit code and a detail that names the field or the reason."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail

    def body(self) -> dict[str, Any]:
        """The error body of an application error."""
        return {
            "message": HTTPStatus(self.status).phrase,
            "error_code": self.code,
            "error_detail": self.detail,
        }

    def in_bulk(self) -> dict[str, str]:
        """The error of a member in a bulk result."""
        return {"error_code": self.code, "error_detail": self.detail}


def invalid(detail: str) -> Fault:
    """40002: the request's parameters are not valid."""
    return Fault(400, INVALID, detail)


def not_found(what: str) -> Fault:
    """An identifier that this tenant does not have."""
    return Fault(404, NOT_FOUND, f"{what} does not exist")


def contract_missing(contract: str) -> Fault:
    """The tenant has not concluded what the operation needs."""
    return Fault(403, CONTRACT_MISSING, f"the contract {contract} is missing")


def setting_off(detail: str) -> Fault:
    """A setting of a device or of a member that must be enabled beforehand."""
    return Fault(403, SETTING_OFF, detail)


def card_taken() -> Fault:
    """Card information is already registered."""
    return Fault(409, CARD_TAKEN, "card_data is already registered")


def qr_taken() -> Fault:
    """The code belongs to another member or guest (assumed: the specification does not show it)."""
    return Fault(409, QR_TAKEN, "the QR data is already registered")
