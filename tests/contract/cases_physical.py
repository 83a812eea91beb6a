"""Operations 35 and 36, on the mock devices alone: no real door or key box is ever operated.

The specification does not show the words for a device request's status. It shows that mock_succeeded succeeds at once,
mock_succeeded_5 after 5 seconds, and mock_timeout never. mock_succeeded_5 must end with the same word as
mock_succeeded, or with one that the overrides' states call done.
"""

import time
from dataclasses import dataclass

from accessapi import limits
from accessapi.overrides import RequestOutcome as Meaning
from tests.contract.lab import House
from tests.contract.outcomes import Differs, NotTried, Outcome
from tests.contract.registry import case
from tests.contract.shapes import Json, kind

PARAMETER = {"operate_door": "device_id", "operate_keys": "key_device_id"}
BODY: dict[str, Json] = {
    "operate_door": {"tag": "lock_operation", "control": "unlock", "info": "contract suite"},
    "operate_keys": {"tag": "lock_operation", "control": "unlock", "targets": ["01", "02"], "info": "contract suite"},
}
_CONTROLS = {
    "operate_door": ("lock", "cont_unlock", "in_unlock", "out_unlock"),
    "operate_keys": ("lock",),
}
#: Seconds at which mock_succeeded_5 cannot have succeeded yet, and at which it must have.
_EARLY, _LATE = 4.0, 20.0


@dataclass(frozen=True)
class _Asked:
    request_id: str
    at: float
    first: str


def check_mocks(house: House, name: str) -> None:
    if not house.credentials.mock_devices:
        raise NotTried(name, "no mock devices, and real ones are never operated")
    if not house.credentials.license_key:
        raise NotTried(name, "license_key is missing in the credentials")


def _operate(house: House, name: str, device: str) -> str:
    answer = house.call(name, path={PARAMETER[name]: device}, body=BODY[name])
    if answer["request_type"] != "device_request":
        raise Differs(name, f"request_type: expected 'device_request', got {answer['request_type']!r}")
    return str(answer["request_id"])


def _status(house: House, request_id: str) -> str:
    record = house.call("request_result", path={"request_id": request_id})
    if record["request_id"] != request_id:
        raise Differs("request_result", f"request_id: expected {request_id!r}, got {record['request_id']!r}")
    if record["request_type"] != "device_request":
        raise Differs("request_result", f"request_type: expected 'device_request', got {record['request_type']!r}")
    return str(record["status"])


def _asked(house: House, name: str, device: str) -> _Asked:
    """Send one request to a mock device; return its status right after it."""

    def ask() -> _Asked:
        check_mocks(house, name)
        at = time.monotonic()
        request_id = _operate(house, name, device)
        return _Asked(request_id, at, _status(house, request_id))

    return house.once(f"{name} {device}", ask)  # type: ignore[no-any-return]


def _meaning(house: House, status: str) -> Meaning:
    return house.lab.catalogue.states.outcome_of("device_request", status)


def _succeeds(house: House, name: str) -> None:
    asked = _asked(house, name, "mock_succeeded")
    if _meaning(house, asked.first) in (Meaning.FAILED, Meaning.WAITING, Meaning.RUNNING):
        time.sleep(1)  # the request and its record may be stored in different places
        status = _status(house, asked.request_id)
        if _meaning(house, status) in (Meaning.FAILED, Meaning.WAITING, Meaning.RUNNING):
            raise Differs(name, f"expected an immediate success of mock_succeeded, got {status!r}")


def _is_success(house: House, name: str, status: str) -> bool:
    """Check whether a status means success: by the overrides' states, or because mock_succeeded has it."""
    if _meaning(house, status) is Meaning.DONE:
        return True
    success = house.once(f"{name} success", lambda: _status(house, _asked(house, name, "mock_succeeded").request_id))
    return bool(status == success)


def _watched(house: House) -> dict[str, tuple[_Asked, str] | Outcome]:
    """Return for both operations the request to mock_succeeded_5 and its status four seconds later; wait only once."""

    def watch() -> dict[str, tuple[_Asked, str] | Outcome]:
        found: dict[str, tuple[_Asked, str] | Outcome] = {}
        for name in PARAMETER:
            try:
                found[name] = _asked(house, name, "mock_succeeded_5"), ""
                _asked(house, name, "mock_timeout")
            except Outcome as outcome:
                found[name] = outcome
        for name, each in found.items():
            if not isinstance(each, Outcome):
                _wait_until(each[0].at + _EARLY)
                in_time = time.monotonic() < each[0].at + 4.8
                found[name] = each[0], _status(house, each[0].request_id) if in_time else each[0].first
        return found

    return dict(house.once("mock_succeeded_5", watch))


def _wait_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _succeeds_later(house: House, name: str) -> None:
    found = _watched(house)[name]
    if isinstance(found, Outcome):
        raise found
    asked, soon = found
    for status in (asked.first, soon):
        if _is_success(house, name, status):
            raise Differs(name, f"expected mock_succeeded_5 to take 5 seconds, but it is {status!r} before")
    _wait_until(asked.at + 5.3)
    while not _is_success(house, name, status := _status(house, asked.request_id)):
        if time.monotonic() - asked.at > _LATE:
            raise Differs(name, f"expected mock_succeeded_5 to have succeeded after 5 seconds, got {status!r}")
        time.sleep(1.5)


def _times_out(house: House, name: str) -> None:
    late = _asked(house, name, "mock_timeout")
    _wait_until(late.at + 5.3)  # by then mock_succeeded_5 has succeeded
    for status in (late.first, _status(house, late.request_id)):
        if _is_success(house, name, status):
            raise Differs(name, f"expected mock_timeout to time out, got {status!r}")


def _refuses(house: House, name: str) -> None:
    check_mocks(house, name)
    path, good = {PARAMETER[name]: "mock_succeeded"}, BODY[name]
    bad: list[tuple[str, Json]] = [
        ("another tag", good | {"tag": "contract_suite"}),
        ("another control", good | {"control": "contract_suite"}),
        ("a request without tag", {key: value for key, value in good.items() if key != "tag"}),
        ("a request without control", {key: value for key, value in good.items() if key != "control"}),
        ("an info of 101 characters", good | {"info": "x" * (limits.INFO_MAX + 1)}),
    ]
    if name == "operate_keys":
        many = [f"{number:02d}" for number in range(1, limits.KEY_TARGETS_MAX + 2)]
        bad += [
            ("31 targets", good | {"targets": many}),
            ("a target that is named twice", good | {"targets": ["01", "01"]}),
            ("a target of one digit", good | {"targets": ["1"]}),
            ("a request without targets", {key: value for key, value in good.items() if key != "targets"}),
        ]
    for what, body in bad:
        house.refused(name, what, path=path, body=body)
    house.refused(name, "a request without License-Key", path=path, body=good, licence_key=None, worded=False)
    house.refused(name, "a wrong License-Key", path=path, body=good, licence_key="contract-suite", worded=False)


def _takes_controls(house: House, name: str) -> None:
    check_mocks(house, name)
    for control in _CONTROLS[name]:
        body = BODY[name] | {"control": control, "info": "x" * limits.INFO_MAX}
        if name == "operate_keys":
            body["targets"] = [f"{number:02d}" for number in range(1, limits.KEY_TARGETS_MAX + 1)]
        answer = house.call(name, path={PARAMETER[name]: "mock_succeeded"}, body=body)
        if not answer["request_id"]:
            raise Differs(name, f"request_id: expected a string for {control}, got {kind(answer['request_id'])}")


def _register(name: str, what: str) -> None:
    case(name, f"succeeds at once on {what} mock_succeeded")(lambda house: _succeeds(house, name))
    case(name, f"succeeds after 5 seconds on {what} mock_succeeded_5")(lambda house: _succeeds_later(house, name))
    case(name, f"does not succeed on {what} mock_timeout")(lambda house: _times_out(house, name))
    case(name, f"takes every control of {what} and its longest lists")(lambda house: _takes_controls(house, name))
    case(name, "refuses other tags and controls, longer lists, and calls without the licence", refusal=True)(
        lambda house: _refuses(house, name)
    )


_register("operate_door", "the door")
_register("operate_keys", "the key box")


@case("request_result", "reports a device operation request", needs=("licence",))
def tells_of_devices(house: House) -> None:
    _asked(house, "operate_door", "mock_succeeded")
