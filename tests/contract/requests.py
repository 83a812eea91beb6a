"""Follow asynchronous requests with pauses, until they are finished or a deadline has passed."""

import time
from collections.abc import Iterator
from typing import Any

from accessapi.overrides import RequestOutcome as Meaning
from tests.contract.lab import House
from tests.contract.outcomes import Differs, NotTried

#: Longest wait for a bulk or face request in seconds. The specification shows none.
DEADLINE = 120.0
#: The wait after a request took longer than that.
IMPATIENT = 10.0
#: How long a request whose members are all finished may still be reported as in progress.
_SETTLING = 15.0
_WAITING = ("pending", "progress")


def _pauses() -> Iterator[float]:
    yield from (0.15, 0.4, 1.0, 2.0, 3.0)
    while True:
        yield 5.0


def follow(house: House, request_id: str) -> dict[str, Any]:
    """Return the record of a finished request. Raises NotTried when it takes too long, Differs when it never will.

    Each record is checked (specification: "Request record", "States and transitions").
    """
    started = time.monotonic()
    deadline = IMPATIENT if house.is_slow else DEADLINE
    settled: float | None = None
    record: dict[str, Any] = {}
    for pause in _pauses():
        record = house.call("request_result", path={"request_id": request_id})
        _check(record, request_id)
        status = record["status"]
        meaning = house.lab.catalogue.states.outcome_of(record["request_type"], status)
        if meaning.is_final:
            house.finished(record)
            return record
        now = time.monotonic()
        if _all_finished(record):
            settled = settled or now
            if now - settled > _SETTLING or status not in _WAITING:
                raise Differs("request_result", f"all members are finished, but its status is {status!r}")
        if now - started > deadline:
            break
        time.sleep(pause)
    house.is_slow = True
    if meaning is Meaning.UNKNOWN:
        raise Differs(
            "request_result", f"after {deadline:.0f} s its status is {record['status']!r}, which is not shown"
        )
    raise NotTried("request_result", f"a request was not finished after {deadline:.0f} s")


def _check(record: dict[str, Any], request_id: str) -> None:
    if record["request_id"] != request_id:
        raise Differs(
            "request_result", f"expected the record of request_id {request_id!r}, got {record['request_id']!r}"
        )
    result = record.get("result")
    if not isinstance(result, dict) or record["request_type"] != "members_bulk":
        return
    total, done = result.get("member_count"), result.get("completed_member_count")
    if isinstance(total, int) and isinstance(done, int) and not 0 <= done <= total:
        raise Differs("request_result", f"completed_member_count is {done}, but member_count is {total}")


def _all_finished(record: dict[str, Any]) -> bool:
    result = record.get("result")
    if not isinstance(result, dict) or not result.get("member_count"):
        return False
    return bool(result.get("completed_member_count") == result["member_count"])
