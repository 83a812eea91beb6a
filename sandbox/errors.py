"""Errors in the service's words (specification: Errors). Codes except 40002 and 40901 are assumed.

If the overrides file has a list of codes, the first one is used.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.http import JsonResponse

from accessapi.operations import Contract
from sandbox.catalogue import CATALOGUE

_ERRORS = CATALOGUE.errors


def _first_code(codes: Sequence[str], otherwise: str) -> str:
    return codes[0] if codes else otherwise


INVALID = "40002"
UNAUTHORISED = "40101"
SCOPE_MISSING = _first_code(_ERRORS.scope, "40301")
LICENCE_MISSING = _first_code(_ERRORS.licence, "40303")
SETTING_OFF = _first_code(_ERRORS.setting, "40304")
KEY_NOT_PERMITTED = _first_code(_ERRORS.setting[1:], SETTING_OFF)
USAGE_REACHED = "40306"
NOT_FOUND = "40401"
VIDEO_LATER = _first_code(CATALOGUE.media.later, "40402")
NO_VIDEO = _first_code(CATALOGUE.media.never, "40403")
CARD_TAKEN = _first_code(_ERRORS.duplicate.card, "40901")
FACE_PRESENT = _first_code(_ERRORS.duplicate.face, "40902")
QR_TAKEN = _first_code(_ERRORS.duplicate.qr, "40903")
CAMERA_AWAY = "40904"
ADDRESS_EXPIRED = "41001"
TOO_LARGE = "41301"
LIMITED = "42901"
FAILED = "50001"


class ApiError(Exception):
    """A refusal: HTTP status, five-digit code and a detail that names the field or the reason."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail

    def body(self) -> dict[str, Any]:
        """Return the error body of an application error."""
        return {
            "message": HTTPStatus(self.status).phrase,
            "error_code": self.code,
            "error_detail": self.detail,
        }

    def as_response(self) -> JsonResponse:
        """Return the error as an answer."""
        return JsonResponse(self.body(), status=self.status)

    def as_bulk_error(self) -> dict[str, str]:
        """Return the error of a member in a bulk result."""
        return {"error_code": self.code, "error_detail": self.detail}


def invalid(detail: str) -> ApiError:
    """Return 40002: the request's parameters are not valid."""
    return ApiError(400, INVALID, detail)


def not_found(what: str) -> ApiError:
    """Return 40401: this tenant has no such identifier."""
    return ApiError(404, NOT_FOUND, f"{what} does not exist")


def contract_missing(contract: str) -> ApiError:
    """Return an error: the tenant lacks the contract that the operation needs."""
    codes = getattr(_ERRORS.contract, Contract(contract))
    return ApiError(403, _first_code(codes, "40302"), f"the contract {contract} is missing")


def check_period(start: Any, end: Any, *, may_be_empty: bool) -> None:
    """Raise ApiError if a use period ends before it begins, or at the same moment if it may not be empty."""
    if start and end and (start > end or (start == end and not may_be_empty)):
        raise invalid(f"use_date_end: is {'not after' if start == end else 'before'} use_date_start")


def setting_off(detail: str) -> ApiError:
    """Return an error: a setting of a device or of a member must be enabled first."""
    return ApiError(403, SETTING_OFF, detail)


def card_taken() -> ApiError:
    """Return an error: the card is already registered."""
    return ApiError(409, CARD_TAKEN, "card_data is already registered")


def qr_taken() -> ApiError:
    """Return an error: the code belongs to another member or guest (assumed: the specification does not show it)."""
    return ApiError(409, QR_TAKEN, "the QR data is already registered")
