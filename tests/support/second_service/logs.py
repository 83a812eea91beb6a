"""The log and its cameras: operations 23 and 29 to 33."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta

from tests.support.second_service.answers import Call, Json, Refusal, route
from tests.support.second_service.checks import bad_query, moment, now, page, said
from tests.support.second_service.people import gone

_FIELDS = ("history_id", "datetime", "status", "category", "_content", "member", "device")
_PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(40)


@route(23, "GET", "/v1/histories", "histories:read")
def histories(call: Call) -> Json:
    """Return records of the log. If the service is lively, each request finds a new one."""
    if call.world.choices.lively and call.house.furnished:
        call.house.record(now(), 1)
    since, until = _moment(call, "since"), _moment(call, "until")
    order = call.asked("sort", "asc" if call.has("sort_ascending_by_default") else "desc")
    if order not in ("asc", "desc"):
        raise bad_query("sort is asc or desc")
    words = [word for word in call.asked("fields").split(",") if word] or list(_FIELDS)
    if strange := [word for word in words if word not in _FIELDS]:
        raise bad_query(f"no field {strange[0]}")

    def wanted(at: datetime) -> bool:
        late = since is None or (at > since if call.has("since_exclusive") else at >= since)
        early = until is None or (at < until if call.has("until_exclusive") else at <= until)
        return late and early

    rows = [row for row in call.house.histories if wanted(moment(row["datetime"]))]
    rows.sort(key=lambda row: str(row["datetime"]), reverse=order == "desc")
    return page(call, rows, "histories", lambda row: {name: row[name] for name in reversed(words)})


def _moment(call: Call, name: str) -> datetime | None:
    text = call.asked(name)
    if not text:
        return None
    try:
        return moment(text)
    except ValueError:
        raise bad_query(f"{name} is no datetime") from None


@route(29, "GET", "/v1/video/consumption", "cameras:read")
def usage(call: Call) -> Json:
    period = {"since": said(now() - timedelta(days=3)), "until": said(now() + timedelta(days=3))}
    totals = {"tenant_streaming_total": 1.5, "tenant_streaming_limit": 0}
    return {**period, **totals, "tenant_download_total": 99999999, "tenant_download_limit": 36000}


@route(30, "GET", "/v1/video/stills", "cameras:read", slow=True)
def snapshots(call: Call) -> Json:
    ids = [id_ for id_ in call.asked("cameras_list").split(",") if id_]
    if not ids or (len(ids) > 10 and not call.unchecked("cameras_list")):
        raise bad_query("one to ten cameras are wanted")
    _moment(call, "datetime")
    if call.unchecked("cameras_list"):
        ids = [id_ for id_ in ids if id_ in call.house.cameras]
    if not set(ids) <= set(call.house.cameras):
        raise gone("camera")
    reached = set(ids) - {call.house.cameras[0]}
    if not reached:
        raise Refusal(409, 40977, "the camera is out of reach")
    picture = base64.b64encode(_PIXEL).decode()
    # The order differs from the request's.
    return {"cameras": [{"snapshot": picture, "camera_id": id_} for id_ in sorted(reached)]}


@route(31, "POST", "/v1/video/{camera_id}/session", "cameras:read", slow=True)
def streaming(call: Call) -> Json:
    since, until = _moment(call, "since"), _moment(call, "until")
    _known(call)
    if call.path["camera_id"] == call.house.cameras[0]:
        raise Refusal(409, 40977, "the camera is out of reach")
    kind = "live" if since is None and until is None else "vod/2"
    address = "https://video.elsewhere.example/p?camera=1&token=%2B"
    ends = said(now() + timedelta(seconds=10))
    return {"camera_id": call.path["camera_id"], "streaming_url": address, "playback_type": kind, "expires_at": ends}


@route(32, "GET", "/v1/video/{camera_id}/health", "cameras:read", slow=True)
def status(call: Call) -> Json:
    _known(call)
    return {"is_connected": call.path["camera_id"] != call.house.cameras[0], "is_streaming": False}


@route(33, "GET", "/v1/video/of/{history_id}", "cameras:read")
def video(call: Call) -> Json:
    """Return a video. It is available from a minute after its record, for 90 days."""
    rows = [row for row in call.house.histories if row["history_id"] == call.path["history_id"]]
    if not rows:
        raise gone("log")
    age = now() - moment(rows[0]["datetime"])
    if age < timedelta(minutes=1):
        raise Refusal(425, 42500, "the video is still to come")
    if age > timedelta(days=90) and not call.has("video_of_old_logs"):
        raise gone("video any more")
    return {"camera_name": "", "video_url": "https://video.elsewhere.example/d?h=1#t=0"}


def _known(call: Call) -> None:
    if call.path["camera_id"] not in call.house.cameras:
        raise gone("camera")
