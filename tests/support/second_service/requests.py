"""Asynchronous requests, which are answered with an identifier, and operation 34.

A bulk request waits, then is half done, then done: all within moments, one request after another.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from tests.support.second_service.answers import Call, Json, route
from tests.support.second_service.house import House
from tests.support.second_service.people import gone

WAIT, WORK = 0.01, 0.03


class Request:
    """One asynchronous request; `begins` and `ends` are on the monotonic clock."""

    kind = ""

    def __init__(self) -> None:
        self.id = f"{uuid.uuid4()}/{self.kind}=="
        self.begins = time.monotonic() + WAIT
        self.ends = self.begins + WORK
        self.stage = 0

    def advance(self, house: House) -> None:
        now = time.monotonic()
        if self.stage == 0 and now >= self.begins:
            self.stage = 1
            self.begin(house)
        if self.stage == 1 and now >= self.ends:
            self.stage = 2
            self.end(house)

    def begin(self, house: House) -> None:
        """Do what happens when the service begins the work."""

    def end(self, house: House) -> None:
        """Do what happens at the end."""

    def shown(self, call: Call) -> Json:
        raise NotImplementedError


class Face(Request):
    """Registration of a face. It fails if the service finds no face in the picture."""

    kind = "face"

    def __init__(self, member_id: str, picture: str, *, sees: bool, twice: bool) -> None:
        super().__init__()
        self.member_id, self.picture, self.sees, self.twice = member_id, picture, sees, twice
        self.status = "progress"

    def end(self, house: House) -> None:
        self.status = "failed_quality"
        if self.sees:
            used = self.picture in house.faces.values() and not self.twice
            self.status = "failed_registered" if used else "succeeded"
        if self.status == "succeeded" and self.member_id in house.members:
            house.faces[self.member_id] = self.picture

    def shown(self, call: Call) -> Json:
        kind = "face_image" if call.has("face_record_of_another_type") else self.kind
        ended = self.status != "progress" and call.has("face_ends_in_another_word")
        return {"request_type": kind, "status": "ready" if ended else self.status}


class Bulk(Request):
    """A change of many members; `work` does one of them and returns its result."""

    kind = "members_bulk"

    def __init__(
        self, tag: str, members: list[Json], work: Callable[[Json], Json], seconds: float, final: str = ""
    ) -> None:
        super().__init__()
        self.final = final
        self.ends = self.begins + seconds
        self.tag, self.members, self.work = tag, members, work
        self.results: list[Json] = []

    def begin(self, house: House) -> None:
        self._do(self.members[: len(self.members) // 2])

    def end(self, house: House) -> None:
        self._do(self.members[len(self.results) :])

    def _do(self, members: list[Json]) -> None:
        self.results += [self.work(member) for member in members]

    def shown(self, call: Call) -> Json:
        answer: Json = {"request_type": self.kind, "tag": self.tag, "status": "pending"}
        if call.has("bulk_without_tag"):
            del answer["tag"]
        if self.stage == 0:
            return answer
        bad = [item for item in self.results if item["status"] == "failed"]
        done = len(self.results)
        if call.has("bulk_counts_only_successes"):
            done -= len(bad)
        members = list(self.results)
        if call.has("bulk_out_of_order"):
            members.reverse()
        answer["result"] = {"member_count": len(self.members), "completed_member_count": done, "members": members}
        final = "completed_with_errors" if bad and not call.has("bulk_completed_in_spite_of_errors") else "completed"
        if call.has("bulk_state_unknown"):
            final = "finished"
        final = self.final or final
        return answer | {"status": final if self.stage == 2 else "progress"}


class Device(Request):
    """A request to operate a lock. `outcome` is this service's word for the final status, None if it never ends."""

    kind = "device_request"

    def __init__(self, outcome: str, seconds: float) -> None:
        super().__init__()
        self.outcome = outcome
        self.ends = self.begins + seconds

    def shown(self, call: Call) -> Json:
        return {"request_type": self.kind, "status": ("queued", "working", self.outcome)[self.stage]}


def submit(call: Call, request: Request) -> Json:
    """Accept a request. A bulk request waits for those before it."""
    earlier = [each.ends for each in call.house.requests.values() if each.kind == request.kind == "members_bulk"]
    if call.has("bulk_overtakes") and request.kind == "members_bulk":
        request.ends += 0 if earlier else 900
    elif earlier and max(earlier) > request.begins:
        request.begins, request.ends = max(earlier), max(earlier) + request.ends - request.begins
    call.house.requests[request.id] = request
    return {"request_id": request.id, "request_type": request.kind}


@route(34, "POST", "/v1/outcomes/{request_id}/look")
def result(call: Call) -> Json:
    houses = call.world.houses if call.world.choices.tells_anybody else [call.house]
    request = next(filter(None, (house.requests.get(call.path["request_id"]) for house in houses)), None)
    if request is None:
        raise gone("request")
    return {"request_id": request.id, **request.shown(call)}
