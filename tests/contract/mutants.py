"""Services that differ from the specification in one respect, and the operation at which the suite must report it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.contract.altering import addressed, asked, changed, drop, instead, put
from tests.support.faults import Fault

_MEMBER = r"/v1/members/(?!bulk)[^/?]+"


@dataclass(frozen=True)
class Mutant:
    """`pattern` is searched in the request line; `fault` makes a fresh fault for each run; `says` is in the report."""

    operation: int
    what: str
    pattern: str
    fault: Callable[[], Fault]
    says: str = ""


def _always(fault: Fault) -> Callable[[], Fault]:
    return lambda: fault


def _twice(list_key: str) -> Callable[[], Fault]:
    """Return a maker of faults: each page begins with the first item of the first page."""

    def make() -> Fault:
        first: list[Any] = []

        def alter(data: Any) -> Any:
            first.extend(data[list_key][:1])
            data[list_key][:1] = first[:1]
            return data

        return changed(alter)

    return make


def _short(name: str, length: int) -> Callable[[Any], Any]:
    """Return a function that cuts a text to its limit, so that a longer one is accepted."""

    def alter(data: Any) -> Any:
        if isinstance(data.get(name), str):
            data[name] = data[name][:length]
        return data

    return alter


def _short_qr(data: Any) -> Any:
    return data | {"qrcode_issuing_method": _short("qrcode_data", 557)(data.get("qrcode_issuing_method") or {})}


def _limited(name: str, most: int) -> Callable[[Any], Any]:
    def alter(data: Any) -> Any:
        if isinstance(data.get(name), int):
            data[name] = min(data[name], most)
        return data

    return alter


def _without_nulls(data: Any) -> Any:
    return {name: value for name, value in data.items() if value is not None}


def _resetting(data: Any) -> Any:
    return {"use_date_start": None} | data


def _without_schedules(data: Any) -> Any:
    for entry in (data.get("devices_pass") or {}).get("areas_list") or []:
        if entry["pass"]["effect"] == "allow":
            entry["pass"] = {"effect": "allow", "schedule": entry["pass"]["schedule"][:1]}
    return data


def _reversed_results(data: Any) -> Any:
    if data.get("result"):
        data["result"]["members"].reverse()
    return data


def _counting_successes(data: Any) -> Any:
    if data.get("result"):
        done = [item for item in data["result"]["members"] if item["status"] == "succeeded"]
        data["result"]["completed_member_count"] = len(done)
    return data


def _failed_with_identifier(data: Any) -> Any:
    for item in (data.get("result") or {}).get("members", []):
        item.setdefault("member_id", "m-failed")
    return data


def _completed(data: Any) -> Any:
    if data["status"] == "completed_with_errors":
        data["status"] = "completed"
    return data


def _no_conflicts(data: Any) -> Any:
    for member in data["members"]:
        member.pop("card_data", None)
    return data


def _moved(data: Any) -> Any:
    data["key_return_date_end"] = data["use_date_end"]
    return data


def _always_more(data: Any) -> Any:
    return {"last_evaluated_key": "more"} | data


def _again(data: Any) -> Any:
    return data | {"membergroup_name": "Contract suite"}


def _registered(data: Any) -> Any:
    return data | ({"status": "succeeded"} if data["status"] == "failed_registered" else {})


def _unknown_read() -> Fault:
    body = {"member_id": "contract-suite-unknown", "member_name": "", "membergroup_id": "", "account_type": ""}
    return instead(200, body)


def _numbered(data: Any) -> Any:
    for number, box in enumerate(data["key_devices"]):
        for unit in box["units"]:
            unit["unit_no"] = str(number)
    return data


MUTANTS = [
    Mutant(1, "tenant_id is a number", "GET /v1/tenant$", _always(changed(put("tenant_id", 7))), "tenant_id"),
    Mutant(1, "weekly holidays are missing", "GET /v1/tenant$", _always(changed(drop("settings.holiday.weekly")))),
    Mutant(2, "settings are not kept", "PUT /v1/tenant/webhook", _always(instead(200, {})), "expected"),
    Mutant(2, "65 characters of secret", "PUT /v1/tenant/webhook", _always(asked(_short("secret_token", 64))), "65"),
    Mutant(3, "pages overlap", "GET /v1/members[?]", _twice("members"), "came twice"),
    Mutant(3, "a cursor on the last page", "GET /v1/members[?]", _always(changed(_always_more))),
    Mutant(3, "1001 on a page", "GET /v1/members[?].*limit=1001", _always(addressed("limit=1001", "limit=1000"))),
    Mutant(3, "50 on a page by default", r"GET /v1/members$", _always(addressed("members", "members?limit=50"))),
    Mutant(3, "no membergroup_name", "GET /v1/members[?]", _always(changed(drop("members.*.membergroup_name")))),
    Mutant(3, "no card by fields", "GET /v1/members[?]", _always(changed(drop("members.*.card_data")))),
    Mutant(4, "the code gets lost", "POST /v1/members$", _always(asked(drop("member_code"))), "member_code"),
    Mutant(4, "41 characters of name", "POST /v1/members$", _always(asked(_short("member_name", 40))), "41"),
    Mutant(4, "no member_id", "POST /v1/members$", _always(changed(drop("member_id"))), "member_id"),
    Mutant(4, "codes as numbers", "POST /v1/members$", _always(changed(put("error_code", 40002), status=400))),
    Mutant(5, "no account_type", f"GET {_MEMBER}$", _always(changed(drop("account_type"))), "account_type"),
    Mutant(5, "half of the schedules", f"GET {_MEMBER}$", _always(changed(_without_schedules)), "schedule"),
    Mutant(5, "dates in UTC", f"GET {_MEMBER}$", _always(changed(put("use_date_end", "2027-01-01T00:00:00Z"))), "Z"),
    Mutant(5, "no totp_seed", f"GET {_MEMBER}$", _always(changed(drop("qrcode.one_time_qr.totp_seed"))), "totp_seed"),
    Mutant(5, "unknown ones are read", "GET /v1/members/contract-suite-unknown$", _unknown_read, "refusal"),
    Mutant(6, "null is ignored", f"PUT {_MEMBER}$", _always(asked(_without_nulls)), "null"),
    Mutant(6, "rest is reset", f"PUT {_MEMBER}$", _always(asked(_resetting)), "not named"),
    Mutant(7, "no address", "PUT .*/profile_image", _always(changed(drop("profile_image_url"))), "profile_image_url"),
    Mutant(8, "faces twice", "GET /v1/requests/", _always(changed(_registered)), "failed_registered"),
    Mutant(9, "the face stays", "DELETE .*/face_image", _always(instead(200, {})), "face_data"),
    Mutant(10, "the member stays", f"DELETE {_MEMBER}$", _always(instead(204)), "still"),
    Mutant(11, "a day and a second", "PUT .*/temporary_use", _always(asked(_limited("timer", 86400))), "86401"),
    Mutant(12, "another prefix", "POST .*/one_time_qr", _always(changed(put("one_time_qr_data", "QR?v=1"))), "SL-OTQR"),
    Mutant(12, "version is a number", "POST .*/one_time_qr", _always(changed(put("version", 1))), "version"),
    Mutant(13, "cards may repeat", "POST /v1/members/bulk/create", _always(asked(_no_conflicts)), "taken"),
    Mutant(13, "another type", "POST /v1/members/bulk/create", _always(changed(put("request_type", "bulk")))),
    Mutant(14, "dates get lost", "POST .*/bulk/update", _always(asked(drop("members.*.use_date_end"))), "use_date_end"),
    Mutant(15, "it breaks", "POST .*/bulk/delete", _always(instead(500, {})), "HTTP 500"),
    Mutant(16, "counts as text", "GET /v1/membergroups", _always(changed(put("membergroups.*.member_count", "3")))),
    Mutant(17, "no membergroup_id", "POST /v1/membergroups", _always(changed(drop("membergroup_id")))),
    Mutant(18, "another name", "PUT /v1/membergroups/", _always(changed(_again)), "membergroup_name"),
    Mutant(19, "fields is ignored", "GET /v1/guests[?]", _always(addressed("&?fields=[^& ]*", "")), "use_date_start"),
    Mutant(20, "558 of QR data", "POST /v1/guests$", _always(asked(_short_qr)), "558"),
    Mutant(21, "no grace", "GET /v1/guests/", _always(changed(_moved)), "key_return_date_end"),
    Mutant(22, "no grace", "PUT /v1/guests/", _always(asked(drop("return_grace_period"))), "key_return_date_end"),
    Mutant(23, "always newest first", "GET /v1/histories", _always(addressed("sort=asc", "sort=desc")), "asc"),
    Mutant(23, "offset is ignored", "GET /v1/histories", _always(addressed("offset=[0-9]+", "offset=0")), "offset"),
    Mutant(24, "truth as text", "GET /v1/areas", _always(changed(put("areas.*.is_outside", "no"))), "is_outside"),
    Mutant(25, "no list", "GET /v1/devices/passes$", _always(changed(put("devices", {}))), "list"),
    Mutant(26, "one error", "GET .*/status", _always(changed(put("door_status.errors", "unlock_error"))), "errors"),
    Mutant(27, "one digit", "GET /v1/devices/keys", _always(changed(_numbered)), "unit_no"),
    Mutant(28, "no units", "GET .*/status", _always(changed(drop("units_status"))), "units_status"),
    Mutant(29, "totals as text", "GET .*/usage", _always(changed(put("tenant_download_total", "1"))), "a number"),
    Mutant(30, "of another camera", "GET .*/snapshots", _always(changed(put("cameras.*.camera_id", "x"))), "camera"),
    Mutant(31, "seconds since 1970", "GET .*/streaming", _always(changed(put("expires_at", 1700000000))), "expires_at"),
    Mutant(32, "truth as text", "GET /v1/cameras/.*/status", _always(changed(put("is_connected", "yes"))), "connected"),
    Mutant(33, "no address", "GET /v1/histories/.*/video", _always(changed(drop("video_url"))), "video_url"),
    Mutant(34, "in another order", "GET /v1/requests/", _always(changed(_reversed_results)), "order"),
    Mutant(34, "counts successes", "GET /v1/requests/", _always(changed(_counting_successes)), "completed"),
    Mutant(34, "failed have identifiers", "GET /v1/requests/", _always(changed(_failed_with_identifier)), "member_id"),
    Mutant(34, "all is well", "GET /v1/requests/", _always(changed(_completed)), "completed_with_errors"),
    Mutant(35, "five seconds at once", "mock_succeeded_5", _always(addressed("succeeded_5", "succeeded")), "take 5"),
    Mutant(36, "another type", "POST .*/keys/", _always(changed(put("request_type", "request"))), "device_request"),
    Mutant(37, "any response type", "GET /oauth2/", _always(addressed("response_type=token", "response_type=code"))),
    Mutant(38, "another word", "POST /oauth2/token", _always(changed(put("error", "invalid_request"), status=400))),
    Mutant(39, "another kind of token", "POST /oauth2/update", _always(changed(put("token_type", "mac"))), "Bearer"),
    Mutant(40, "the token lives on", "POST /oauth2/revoke", _always(instead(200)), "invalid_client"),
]
