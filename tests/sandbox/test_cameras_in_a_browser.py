"""A real browser plays cameras' videos, on a page of another origin and without a JavaScript player."""

from datetime import UTC, datetime, timedelta

from accessapi.limits import JST
from tests.support.chromium import Tabs
from tests.support.sandbox import Sandbox

_PAGE = "<!doctype html><video id=video muted autoplay crossorigin=anonymous></video>"
# The video plays, and the page may read its pictures, which needs the other origin's permission.
_PLAYS = """() => {
  if (video.error) throw new Error(video.error.message);
  if (video.currentTime < 1 || video.videoWidth !== 640) return false;
  const brush = document.createElement('canvas').getContext('2d');
  brush.drawImage(video, 0, 0);
  return brush.getImageData(5, 5, 1, 1).data[3] === 255;
}"""


def test_live_and_recorded_video_play(open_tab: Tabs, sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(members=0)
    camera_id = sandbox.look("cameras", tenant_id=tenant.tenant_id)["cameras"][0]["camera_id"]
    since = (datetime.now(UTC) - timedelta(minutes=30)).astimezone(JST)
    page = open_tab(sandbox.url)
    # The same server under another name is another origin. Pages without an origin may not reach the loopback.
    page.goto(sandbox.url.replace("127.0.0.1", "localhost") + "/healthz")
    page.set_content(_PAGE)
    for query in ({}, {"since": since.isoformat(timespec="seconds")}):
        answer = sandbox.api("GET", f"/v1/cameras/{camera_id}/streaming", token=tenant.token, params=query)
        page.evaluate("url => { video.src = url }", answer.json()["streaming_url"])
        page.wait_for_function(_PLAYS)
        assert page.evaluate("String(video.duration)") == ("600" if query else "Infinity")
    usage = sandbox.api("GET", "/v1/cameras/usage", token=tenant.token).json()
    assert usage["tenant_streaming_total"] >= 4
