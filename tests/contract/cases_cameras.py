"""Operations 29 to 33: cameras. No picture or video is fetched.

The interface does not list cameras: their identifiers come from the credentials, or from an answer that names some.
"""

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta

from accessapi import limits
from accessapi.resources import write_moment
from tests.contract.cases_histories import newest
from tests.contract.lab import UNKNOWN_ID, UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried, Outcome
from tests.contract.registry import case
from tests.contract.shapes import Json, array_in
from tests.contract.wire import Reply

#: How many cameras and logs are tried before giving up.
_TRIES, _LOGS = 3, 20


@case("camera_usage", "shows the period, and totals and limits of streaming and downloads")
def shows_usage(house: House) -> None:
    usage = house.call("camera_usage")
    if usage["since"] > usage["until"]:
        raise Differs("camera_usage", f"since {usage['since']} is after until {usage['until']}")


@case("camera_usage", "answers no one without a known access token", refusal=True)
def refuses_usage(house: House) -> None:
    house.refused("camera_usage", "an unknown access token", token=UNKNOWN_TOKEN, worded=False)


def _cameras(house: House, name: str) -> list[str]:
    if found := list(dict.fromkeys([*house.credentials.cameras, *house.cameras_seen])):
        return found
    # Read answers that may name cameras. Their other content does not matter here.
    for read in (house.doors, house.areas, lambda: newest(house)):
        with contextlib.suppress(Outcome):
            read()
    if house.cameras_seen:
        return list(house.cameras_seen)
    raise NotTried(name, "no camera is known: the interface lists none, name some as `cameras` in the credentials")


def _first_answer(house: House, name: str, ask: Callable[[str], Json]) -> tuple[str, Json]:
    """Return the first camera that `ask` gets an answer for, and the answer. A disconnected camera may be refused."""
    last: Reply | None = None
    for camera_id in _cameras(house, name)[:_TRIES]:
        last = house.reply(name, **ask(camera_id))
        if last.fine or last.status in (405, 501) or last.status >= 500:
            return camera_id, house.judged(name, last)
        named = camera_id in house.credentials.cameras
        if named and (name == "camera_status" or _is_connected(house, camera_id)):
            return camera_id, house.judged(name, last)
    raise NotTried(name, f"no camera that answers is known (HTTP {last.status if last else 0})")


def _is_connected(house: House, camera_id: str) -> bool:
    data = house.reply("camera_status", path={"camera_id": camera_id}).json
    return isinstance(data, dict) and data.get("is_connected") is True


def _snapshot(house: House) -> tuple[str, Json]:
    def ask() -> tuple[str, Json]:
        return _first_answer(house, "camera_snapshots", lambda each: {"query": {"cameras_list": each}})

    return house.once("snapshot", ask)  # type: ignore[no-any-return]


@case("camera_snapshots", "gives a snapshot of the requested cameras")
def takes_snapshots(house: House) -> None:
    camera_id, answer = _snapshot(house)
    rows = answer["cameras"]
    if [row["camera_id"] for row in rows] != [camera_id]:
        raise Differs("camera_snapshots", f"expected one snapshot, of {camera_id!r}, got {len(rows)} of other cameras")
    if not isinstance(rows[0].get("snapshot"), str):
        raise Differs("camera_snapshots", "snapshot: expected a string, got nothing")


@case("camera_snapshots", "refuses a request without cameras_list, and more than 10 cameras", refusal=True)
def refuses_snapshots(house: House) -> None:
    house.refused("camera_snapshots", "a request without cameras_list")
    unknown = [f"{UNKNOWN_ID}-{number}" for number in range(limits.SNAPSHOT_CAMERAS_MAX)]
    # Begin with the camera that answered: another may be refused because it cannot be reached.
    known = dict.fromkeys([_snapshot(house)[0], *_cameras(house, "camera_snapshots")])
    many = [*known, *unknown][: limits.SNAPSHOT_CAMERAS_MAX + 1]
    house.refused("camera_snapshots", "11 cameras", query=[("cameras_list", ",".join(many))])


@case("camera_streaming", "gives an address of the live picture, and until when it holds")
def streams(house: House) -> None:
    camera_id, answer = _first_answer(house, "camera_streaming", lambda each: {"path": {"camera_id": each}})
    _check_session(house, camera_id, answer)


def _check_session(house: House, camera_id: str, answer: Json) -> None:
    house.lab.secret(answer["streaming_url"])
    if answer["camera_id"] != camera_id:
        raise Differs("camera_streaming", f"camera_id: expected {camera_id!r}, got {answer['camera_id']!r}")


@case("camera_streaming", "gives an address of a recording between since and until")
def streams_recordings(house: House) -> None:
    camera_id, _ = _first_answer(house, "camera_streaming", lambda each: {"path": {"camera_id": each}})
    until = datetime.now(limits.JST) - timedelta(minutes=30)
    query = {"since": write_moment(until - timedelta(minutes=20)), "until": write_moment(until)}
    reply = house.reply("camera_streaming", path={"camera_id": camera_id}, query=query)
    if 400 <= reply.status <= 499:
        raise NotTried("camera_streaming", f"no recording of half an hour ago (HTTP {reply.status})")
    _check_session(house, camera_id, house.judged("camera_streaming", reply))


@case("camera_streaming", "refuses an unknown camera", refusal=True)
def refuses_streaming(house: House) -> None:
    house.refused("camera_streaming", "an unknown camera_id", path={"camera_id": UNKNOWN_ID})


@case("camera_status", "says whether the camera is connected and streaming")
def shows_status(house: House) -> None:
    _first_answer(house, "camera_status", lambda each: {"path": {"camera_id": each}})


@case("camera_status", "refuses an unknown camera", refusal=True)
def refuses_status(house: House) -> None:
    house.refused("camera_status", "an unknown camera_id", path={"camera_id": UNKNOWN_ID})


@case("history_video", "gives the camera's name and an address of the video of a log")
def gives_videos(house: House) -> None:
    said = []
    for history_id in _distinct(newest(house))[:_LOGS]:
        reply = house.reply("history_video", path={"history_id": history_id})
        if reply.status in (405, 501) or not 400 <= reply.status <= 499:
            house.lab.secret(house.judged("history_video", reply)["video_url"])
            return
        said.append(str(reply.status))
    raise NotTried("history_video", f"none of {len(said)} logs has a video (HTTP {', '.join(dict.fromkeys(said))})")


def _distinct(rows: list[Json]) -> list[str]:
    """Return logs of different devices first, and the oldest first for one device: videos can lag behind logs."""
    by_device: dict[str, str] = {}
    kept = write_moment(datetime.now(limits.JST) - timedelta(days=limits.VIDEO_RETENTION_DAYS - 1))
    rows = [row for row in rows if row["datetime"] > kept]
    for row in rows:
        device = row.get("device")
        by_device[str(device.get("id") if isinstance(device, dict) else None)] = row["history_id"]
    return [*by_device.values(), *(row["history_id"] for row in rows if row["history_id"] not in by_device.values())]


@case("history_video", "refuses unknown logs, and those older than 90 days", refusal=True)
def refuses_videos(house: House) -> None:
    house.refused("history_video", "an unknown history_id", path={"history_id": UNKNOWN_ID})
    until = write_moment(datetime.now(limits.JST) - timedelta(days=limits.VIDEO_RETENTION_DAYS + 2))
    reply = house.reply("list_histories", query={"until": until, "limit": 1})
    for row in array_in(reply.json) or [] if reply.fine else []:
        house.refused("history_video", "a log older than 90 days", path={"history_id": row["history_id"]})
