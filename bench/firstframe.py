"""Live video in a browser: from the click on "Watch live" to the first frame, compared with bare requests."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin

import httpx2
from playwright.sync_api import Page

from bench.doors import PLENTY
from bench.evidence import with_cameras
from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from stack.testing import find_browser as browser_here
from tests.support.chromium import PATIENCE, chromium, end
from tests.support.stage import Customer

# The page stores the time of the click for the next page, which waits for the frame.
_CLOCK = """
const now = () => performance.timeOrigin + performance.now();
addEventListener("click", () => sessionStorage.setItem("clicked", now()), true);
window.waited = new Promise((shown, failed) => addEventListener("DOMContentLoaded", () => {
  const video = document.querySelector("[data-player] video");
  video?.requestVideoFrameCallback(() => shown(now() - Number(sessionStorage.getItem("clicked"))));
  if (video) setTimeout(() => failed(new Error(document.querySelector("[data-said]").textContent)), 60000);
}));
"""
# Makes the browser report that it cannot play HLS; the page then loads hls.js.
_WITHOUT = 'HTMLMediaElement.prototype.canPlayType = () => "";'
_WAYS = {"the browser's own player": "", "hls.js": _WITHOUT}
_LOOKS = 1.5  # seconds from opening the page to the click
_OWN = 10  # more than a new tenant of the sandbox has
_FROM_END = 3  # a player begins with this segment, counted from the end of a live playlist


def clicked(ground: Ground) -> list[Figure]:
    """Click on cameras that no one is watching, each once, with the browser's own player and with hls.js."""
    os.environ.setdefault("CHROMIUM", browser_here() or "")
    count = max(3, ground.sizes.clicks // 2)
    again = ground.sizes.again("firstframe", clicks=ground.sizes.clicks)
    if not os.environ["CHROMIUM"]:
        return [Figure("click on Watch live to the first frame", "", command=again, note="needs a Chromium")]
    say(f"{2 * count} clicks on Watch live")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = stage.customer()
        # Two cameras for each click: what the bare request fetches must not be ready for the player. The tenant's first
        # cameras
        # are not used, because one of them has no connection.
        needed = 2 * len(_WAYS) * (count + 1)
        cameras = reversed(with_cameras(customer, needed + _OWN))
        with customer.browser("guard") as person, httpx2.Client(base_url=stage.proxy.url) as service:
            session = person.http.cookies["sessionid"]
            found = []
            for name, script in _WAYS.items():
                with _page(ground, session, script) as page:
                    bare, waited = [], []
                    for _ in range(count + 1):
                        bare.append(_bare(service, customer, next(cameras)))
                        waited.append(_click(page, customer, next(cameras)))
                found += _figures(name, bare[1:], waited[1:], again)  # the first click fetched the scripts
        end()
    return found


def _figures(variant: str, bare: list[float], waited: list[float], again: str) -> list[Figure]:
    note = "bare: address, playlist and first segment, which the sandbox draws when asked, for both"
    found = []
    for share in (0.5, 0.95):
        ours, other = percentile(waited, share), percentile(bare, share)
        label = f"click on Watch live to the first frame, {variant}, p{share * 100:.0f}"
        found.append(Figure(label, ms(ours), f"bare {ms(other)}", ours / other, None, again, note))
    return found


@contextmanager
def _page(ground: Ground, session: str, script: str) -> Iterator[Page]:
    """Yield a signed-in page of a new browser without a cache."""
    with chromium() as browser:
        context = browser.new_context(base_url=ground.house.url)
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": "sessionid", "value": session, "url": ground.house.url}])
        context.add_init_script(_CLOCK + script)
        yield context.new_page()
        context.close()


def _click(page: Page, customer: Customer, camera_id: str) -> float:
    """Open a camera's page and click on Watch live. Return the seconds until its first frame is shown."""
    page.goto(customer.url(f"cameras/{camera_id}/"))
    page.wait_for_timeout(_LOOKS * 1000)
    page.get_by_role("button", name="Watch live").click()
    page.locator("[data-player]").wait_for()
    return float(page.evaluate("window.waited")) / 1000


def _bare(service: httpx2.Client, customer: Customer, camera_id: str) -> float:
    """Return the seconds for requesting the address, and fetching the playlist and the segment played first."""
    started = time.perf_counter()
    token = {"Authorization": f"Bearer {customer.service.token}"}
    response = service.get(f"/v1/cameras/{camera_id}/streaming", headers=token)
    address = response.raise_for_status().json()["streaming_url"]
    playlist = service.get(address).raise_for_status().text
    segments = [line for line in playlist.splitlines() if line.endswith(".ts")]
    service.get(urljoin(address, segments[-_FROM_END])).raise_for_status()
    return time.perf_counter() - started
