"""Cameras: pictures, live and recorded video, the video of a record, and how watching is counted."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO
from itertools import pairwise
from typing import Any
from urllib.parse import urljoin

import av
import httpx2
import psycopg
import pytest
from PIL import Image

from tests.support.sandbox import Sandbox, SandboxTenant

JST = timezone(timedelta(hours=9))


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    return sandbox.tenant(members=2)


@pytest.fixture
def get() -> Iterator[Any]:
    """Return a function that fetches an address as a player does, without a token."""
    with httpx2.Client(timeout=60) as client:
        yield client.get


def cameras(sandbox: Sandbox, tenant: SandboxTenant) -> list[dict[str, Any]]:
    return list(sandbox.look("cameras", tenant_id=tenant.tenant_id)["cameras"])


def camera(sandbox: Sandbox, tenant: SandboxTenant) -> dict[str, Any]:
    return cameras(sandbox, tenant)[0]


def wire(moment: datetime) -> str:
    return moment.astimezone(JST).isoformat(timespec="seconds")


def ago(**before: float) -> str:
    return wire(datetime.now(UTC) - timedelta(**before))


def call(sandbox: Sandbox, tenant: SandboxTenant, path: str, **query: str) -> httpx2.Response:
    return sandbox.api("GET", path, token=tenant.token, params=query)


def stream(sandbox: Sandbox, tenant: SandboxTenant, camera_id: str, **query: str) -> dict[str, Any]:
    answer = call(sandbox, tenant, f"/v1/cameras/{camera_id}/streaming", **query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def snapshot(sandbox: Sandbox, tenant: SandboxTenant, camera_id: str, **query: str) -> str:
    answer = call(sandbox, tenant, "/v1/cameras/snapshots", cameras_list=camera_id, **query)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["cameras"][0]["snapshot"])


def usage(sandbox: Sandbox, tenant: SandboxTenant) -> dict[str, Any]:
    return dict(call(sandbox, tenant, "/v1/cameras/usage").json())


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"message", "error_code", "error_detail"}
    return answer.status_code, answer.json()["error_code"]


def segments(playlist: httpx2.Response) -> list[str]:
    return [urljoin(str(playlist.url), line) for line in playlist.text.splitlines() if not line.startswith("#")]


def times(content: bytes) -> list[float]:
    with av.open(BytesIO(content)) as container:
        return [float(frame.time) for frame in container.decode(video=0)]


def happened(sandbox: Sandbox, tenant: SandboxTenant, device_id: str, **before: float) -> str:
    """Record that a person was let in at a door some time ago. Return its history_id."""
    history_id = f"h{datetime.now(UTC).timestamp()}"
    device = f'{{"id": "{device_id}", "name": "", "module": "pass", "units": []}}'
    with psycopg.connect(sandbox.database_url) as database:
        database.execute(
            "INSERT INTO service_history"
            " (tenant_id, history_id, at, status, category, content, member, device, held_by)"
            " VALUES (%s, %s, %s, 'occur', 'normal', 'Entry', '{\"id\": \"m1\"}', %s, '')",
            (tenant.tenant_id, history_id, datetime.now(UTC) - timedelta(**before), device),
        )
    return history_id


def test_a_tenant_has_four_to_six_cameras_and_one_is_out_of_reach(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    found = cameras(sandbox, tenant)
    assert 4 <= len(found) <= 6
    assert [each["is_connected"] for each in found].count(False) == 1
    assert sum(each["device_id"] is not None for each in found) >= 3
    assert any(not each["name"].isascii() for each in found)
    assert any(each["name"].isascii() for each in found)


def test_snapshots_are_pictures_in_the_order_that_was_asked_for(
    sandbox: Sandbox, tenant: SandboxTenant, get: Any
) -> None:
    first, second, *_, away = (each["camera_id"] for each in cameras(sandbox, tenant))
    answer = call(sandbox, tenant, "/v1/cameras/snapshots", cameras_list=f"{second},{first},{away}")
    assert [each["camera_id"] for each in answer.json()["cameras"]] == [second, first, away]
    one, other, nothing = (each["snapshot"] for each in answer.json()["cameras"])
    assert nothing == ""
    pictures = [get(one), get(other)]
    assert [each.headers["content-type"] for each in pictures] == ["image/jpeg"] * 2
    assert Image.open(BytesIO(pictures[0].content)).size == (1280, 720)
    assert pictures[0].content != pictures[1].content


def test_a_snapshot_of_a_moment_is_always_the_same(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    camera_id, at = camera(sandbox, tenant)["camera_id"], datetime.now(UTC) - timedelta(days=3)
    second = at + timedelta(seconds=1)
    one, same, later = (get(snapshot(sandbox, tenant, camera_id, datetime=wire(each))) for each in (at, at, second))
    assert one.content == same.content != later.content


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"cameras_list": ""},
        {"cameras_list": "a,,b"},
        {"cameras_list": ",".join("abcdefghijk")},
        {"cameras_list": "CAMERA", "datetime": "yesterday"},
        {"cameras_list": "CAMERA", "datetime": "2026-11-21T00:00:00Z"},
        {"cameras_list": "CAMERA", "datetime": ago(days=-1)},
        {"cameras_list": "CAMERA", "datetime": ago(days=91)},
        {"cameras_list": "CAMERA", "datetime": "0001-01-01T00:00:00+09:00"},
        {"cameras_list": "CAMERA", "size": "large"},
    ],
)
def test_what_no_snapshot_can_be_asked_with(sandbox: Sandbox, tenant: SandboxTenant, query: dict[str, str]) -> None:
    camera_id = camera(sandbox, tenant)["camera_id"]
    query = {name: camera_id if value == "CAMERA" else value for name, value in query.items()}
    assert refusal(call(sandbox, tenant, "/v1/cameras/snapshots", **query)) == (400, "40002")


def test_unknown_cameras_do_not_exist(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    stranger = camera(sandbox, sandbox.tenant(members=0, name="Neighbour"))["camera_id"]
    known = camera(sandbox, tenant)["camera_id"]
    assert refusal(call(sandbox, tenant, "/v1/cameras/snapshots", cameras_list=f"{known},{stranger}"))[0] == 404
    for path in (f"/v1/cameras/{stranger}/streaming", f"/v1/cameras/{stranger}/status", "/v1/cameras/a%00b/status"):
        assert refusal(call(sandbox, tenant, path)) == (404, "40401")


def test_the_live_stream_goes_on_in_segments_that_fit_together(
    sandbox: Sandbox, tenant: SandboxTenant, get: Any
) -> None:
    camera_id = camera(sandbox, tenant)["camera_id"]
    session = stream(sandbox, tenant, camera_id)
    assert session["camera_id"] == camera_id
    assert session["playback_type"] == "live"
    assert timedelta(0) < datetime.fromisoformat(session["expires_at"]) - datetime.now(UTC) <= timedelta(hours=1)
    playlist = get(session["streaming_url"])
    assert playlist.headers["content-type"] == "application/vnd.apple.mpegurl"
    assert playlist.headers["access-control-allow-origin"] == "*"
    assert "#EXT-X-ENDLIST" not in playlist.text
    found = segments(playlist)
    assert len(found) == 5
    frames = [time for url in found[:2] for time in times(get(url).content)]
    assert len(frames) == 32
    assert {round(after - before, 3) for before, after in pairwise(frames)} <= {0.125, -86399.875}
    sandbox.console("clock", tenant_id=tenant.tenant_id, seconds=6)
    assert segments(get(session["streaming_url"]))[0] > found[2]
    sandbox.console("clock", tenant_id=tenant.tenant_id, seconds=120)
    assert refusal(get(found[0])) == (404, "40401")
    assert refusal(get(urljoin(session["streaming_url"], "99999999999.ts"))) == (404, "40401")


def test_a_recording_is_at_most_ten_minutes_long(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    camera_id = camera(sandbox, tenant)["camera_id"]
    long = stream(sandbox, tenant, camera_id, since=ago(hours=3), until=ago(hours=1))
    assert long["playback_type"] == "on_demand"
    playlist = get(long["streaming_url"])
    assert playlist.text.endswith("#EXT-X-ENDLIST\n")
    assert len(segments(playlist)) == 300
    assert len(segments(get(stream(sandbox, tenant, camera_id, since=ago(days=2))["streaming_url"]))) == 300
    assert 60 <= len(segments(get(stream(sandbox, tenant, camera_id, since=ago(minutes=2))["streaming_url"]))) < 90
    short = stream(sandbox, tenant, camera_id, since=ago(seconds=60), until=ago(seconds=55))
    found = segments(get(short["streaming_url"]))
    assert [len(times(get(url).content)) for url in found] == [16, 16, 8]
    beyond = int(found[-1].rpartition("/")[2].removesuffix(".ts")) + 2
    assert refusal(get(urljoin(found[0], f"{beyond}.ts"))) == (404, "40401")


@pytest.mark.parametrize(
    "query",
    [
        {"until": ago(hours=1)},
        {"since": ago(hours=1), "until": ago(hours=2)},
        {"since": ago(hours=-1)},
        {"since": ago(days=91)},
        {"since": "now"},
        {"since": "9999-12-31T23:59:59+09:00", "until": "9999-12-31T23:59:59+09:00"},
        {"since": ago(hours=1), "speed": "2"},
    ],
)
def test_what_no_stream_can_be_asked_with(sandbox: Sandbox, tenant: SandboxTenant, query: dict[str, str]) -> None:
    path = f"/v1/cameras/{camera(sandbox, tenant)['camera_id']}/streaming"
    assert refusal(call(sandbox, tenant, path, **query)) == (400, "40002")


def test_a_status_tells_whether_somebody_is_watching(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    watched, other, *_, away = cameras(sandbox, tenant)

    def status(which: dict[str, Any]) -> dict[str, Any]:
        return dict(call(sandbox, tenant, f"/v1/cameras/{which['camera_id']}/status").json())

    assert status(watched) == {"is_connected": True, "is_streaming": False}
    get(segments(get(stream(sandbox, tenant, watched["camera_id"])["streaming_url"]))[-1])
    assert status(watched) == {"is_connected": True, "is_streaming": True}
    assert status(other) == {"is_connected": True, "is_streaming": False}
    assert status(away) == {"is_connected": False, "is_streaming": False}
    sandbox.console("clock", tenant_id=tenant.tenant_id, seconds=30)
    assert status(watched)["is_streaming"] is False


def test_a_camera_that_loses_its_connection_shows_nothing_more(
    sandbox: Sandbox, tenant: SandboxTenant, get: Any
) -> None:
    camera_id = camera(sandbox, tenant)["camera_id"]
    session, picture = stream(sandbox, tenant, camera_id), snapshot(sandbox, tenant, camera_id)
    sandbox.console("cameras", tenant_id=tenant.tenant_id, camera_id=camera_id, is_connected=False)
    assert refusal(get(session["streaming_url"])) == refusal(get(picture)) == (409, "40904")
    assert refusal(call(sandbox, tenant, f"/v1/cameras/{camera_id}/streaming")) == (409, "40904")


def test_addresses_expire_and_cannot_be_invented(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    camera_id = camera(sandbox, tenant)["camera_id"]
    url, playlist = snapshot(sandbox, tenant, camera_id), stream(sandbox, tenant, camera_id)["streaming_url"]
    segment = segments(get(playlist))[0]
    for invented in (
        url.replace("snapshot.jpg", "video.mp4"),
        url.replace("snapshot.jpg", "live.m3u8"),
        playlist.replace("live.m3u8", "recording.m3u8"),
        playlist.replace("live.m3u8", "x.ts"),
        url.replace("/cameras/", "/cameras/A"),
        f"{sandbox.url}/files/cameras/a:b/snapshot.jpg",
        f"{sandbox.url}/files/cameras/%00%ff/live.m3u8",
    ):
        answer = get(invented)
        assert refusal(answer) == (404, "40401")
        assert answer.headers["access-control-allow-origin"] == "*"
    assert refusal(httpx2.post(url)) == (405, "40500")
    assert httpx2.options(segment).status_code == 204
    sandbox.settings(tenant.tenant_id, clock_offset=3700)
    assert refusal(get(url)) == refusal(get(playlist)) == refusal(get(segment)) == (410, "41001")


def test_the_video_of_a_log_comes_late_and_plays(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    watching = camera(sandbox, tenant)
    path = f"/v1/histories/{happened(sandbox, tenant, watching['device_id'])}/video"
    assert refusal(call(sandbox, tenant, path)) == (404, "40402")
    sandbox.settings(tenant.tenant_id, clock_offset=9)
    answer = call(sandbox, tenant, path)
    assert answer.json()["camera_name"] == watching["name"]
    url = answer.json()["video_url"]
    whole = get(url)
    assert whole.headers["content-type"] == "video/mp4"
    assert times(whole.content)[-1] == pytest.approx(15, abs=0.2)
    assert 0 < whole.content.index(b"moov") < whole.content.index(b"mdat")
    assert usage(sandbox, tenant)["tenant_download_total"] == 15
    half = len(whole.content) // 2
    part = get(url, headers={"Range": f"bytes={half}-"})
    assert (part.status_code, part.content) == (206, whole.content[half:])
    assert part.headers["content-range"] == f"bytes {half}-{len(whole.content) - 1}/{len(whole.content)}"
    assert get(url, headers={"Range": "bytes=-4"}).content == whole.content[-4:]
    assert get(url, headers={"Range": "bytes=3-1"}).status_code == 200
    assert refusal(get(url, headers={"Range": f"bytes={len(whole.content)}-"})) == (416, "41601")
    assert usage(sandbox, tenant)["tenant_download_total"] == pytest.approx(15 + 7.5 + 15, abs=0.2)


def test_not_every_log_has_a_video(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    watching = camera(sandbox, tenant)["device_id"]
    devices = sandbox.doors(tenant.token)
    watched = {each["device_id"] for each in cameras(sandbox, tenant)}
    blind = next(each["device_id"] for each in devices if each["device_id"] not in watched)

    def answer(history_id: str) -> httpx2.Response:
        return call(sandbox, tenant, f"/v1/histories/{history_id}/video")

    assert answer(happened(sandbox, tenant, watching, days=89)).status_code == 200
    assert refusal(answer(happened(sandbox, tenant, watching, days=91))) == (404, "40403")
    assert refusal(answer(happened(sandbox, tenant, blind, minutes=5))) == (404, "40403")
    assert refusal(answer(happened(sandbox, tenant, watching, minutes=-5))) == (404, "40401")
    assert refusal(answer("nothing")) == (404, "40401")


def test_what_is_watched_counts_until_the_limit(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    camera_id = camera(sandbox, tenant)["camera_id"]
    before = usage(sandbox, tenant)
    start, end = (datetime.fromisoformat(before[name]) for name in ("since", "until"))
    assert start.day == 1
    assert (end + timedelta(seconds=1)).day == 1
    assert start <= datetime.now(UTC) <= end
    assert (before["tenant_streaming_total"], before["tenant_download_total"]) == (0, 0)
    sandbox.settings(tenant.tenant_id, streaming_limit=6)
    playlist = stream(sandbox, tenant, camera_id, since=ago(minutes=5), until=ago(minutes=4))["streaming_url"]
    found = segments(get(playlist))
    assert [get(url).status_code for url in (found[0], found[0], found[1])] == [200] * 3
    assert usage(sandbox, tenant)["tenant_streaming_total"] == usage(sandbox, tenant)["tenant_streaming_limit"] == 6
    assert refusal(get(found[2])) == refusal(get(playlist)) == (403, "40306")
    assert refusal(call(sandbox, tenant, f"/v1/cameras/{camera_id}/streaming")) == (403, "40306")
    assert usage(sandbox, tenant)["tenant_streaming_total"] == 6
    assert get(snapshot(sandbox, tenant, camera_id)).status_code == 200
    sandbox.console("clock", tenant_id=tenant.tenant_id, seconds=31 * 24 * 3600)
    assert usage(sandbox, tenant)["tenant_streaming_total"] == 0


def test_every_fetch_of_many_at_once_counts(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    sandbox.settings(tenant.tenant_id, streaming_limit=30)
    camera_id = camera(sandbox, tenant)["camera_id"]
    found = segments(get(stream(sandbox, tenant, camera_id, since=ago(minutes=3))["streaming_url"]))[:3] * 8
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda url: get(url).status_code, found))
    assert sorted(answers) == [200] * 15 + [403] * 9
    assert usage(sandbox, tenant)["tenant_streaming_total"] == 30


def test_whoever_was_logged_at_a_door_is_seen_there(sandbox: Sandbox, tenant: SandboxTenant, get: Any) -> None:
    watching = camera(sandbox, tenant)
    at = datetime.now(UTC) - timedelta(seconds=30)
    moment = {"datetime": wire(at)}
    empty = get(snapshot(sandbox, tenant, watching["camera_id"], **moment))
    happened(sandbox, tenant, watching["device_id"], seconds=30.5)
    assert get(snapshot(sandbox, tenant, watching["camera_id"], **moment)).content != empty.content


def test_a_token_without_the_permission_sees_nothing(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    tenant.token = sandbox.token(tenant.tenant_id, scopes=["devices:read"])
    for path in ("/v1/cameras/usage", "/v1/cameras/x/status", "/v1/histories/x/video"):
        assert refusal(call(sandbox, tenant, path)) == (403, "40301")
