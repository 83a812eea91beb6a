"""The contents of pictures: the room, the light, people, the camera's name and the time; and how they move."""

import threading
from datetime import datetime, timedelta
from io import BytesIO

import av
import pytest
from PIL import Image, ImageChops, ImageStat

from accessapi.limits import JST
from sandbox.cameras import playlists, video
from sandbox.cameras.cache import FileCache
from sandbox.cameras.pedestrians import Arrival
from sandbox.cameras.picture import CameraView, draw_picture
from sandbox.cameras.scenes import SCENES

NOON = datetime(2026, 11, 20, 12, tzinfo=JST)
HALL = CameraView("c1", "正面エントランス カメラ", "entrance")
#: Where name and time are drawn.
NAME, TIME = (0, 0, 300, 40), (440, 0, 640, 40)


def difference(one: Image.Image, other: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the rectangle in which two pictures differ."""
    return ImageChops.difference(one, other).getbbox()


def brightness(picture: Image.Image) -> float:
    return float(ImageStat.Stat(picture.convert("L")).mean[0])


def quiet(moment: datetime) -> datetime:
    """Return a moment after which no one walks through the hall for two seconds."""
    while difference(
        draw_picture(HALL, moment).crop((0, 40, 640, 360)),
        draw_picture(HALL, moment + timedelta(seconds=2)).crop((0, 40, 640, 360)),
    ):
        moment += timedelta(seconds=10)
    return moment


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_camera_and_moment_give_the_same_picture(scene: str) -> None:
    view = CameraView("c1", "倉庫", scene)
    assert draw_picture(view, NOON).tobytes() == draw_picture(view, NOON).tobytes()
    assert draw_picture(view, NOON).tobytes() != draw_picture(CameraView("c2", "倉庫", scene), NOON).tobytes()
    assert draw_picture(view, NOON).size == (640, 360)
    assert draw_picture(view, NOON, zoom=2).size == (1280, 720)


def test_the_name_is_drawn_with_japanese_letters() -> None:
    named, nameless = draw_picture(HALL, NOON), draw_picture(CameraView("c1", "", "entrance"), NOON)
    left, _, right, _ = difference(named, nameless) or (0, 0, 0, 0)
    assert right - left > 100
    assert difference(named, nameless) == difference(named.crop(NAME), nameless.crop(NAME))
    # A font without these letters draws the same box for each of them.
    assert difference(
        draw_picture(CameraView("c1", "入口", "entrance"), NOON),
        draw_picture(CameraView("c1", "出口", "entrance"), NOON),
    )


def test_the_time_is_drawn_to_the_second() -> None:
    moment = quiet(NOON)
    half, second = (draw_picture(HALL, moment + timedelta(seconds=each)) for each in (0.5, 1))
    assert difference(draw_picture(HALL, moment), half) is None
    left, _, _, bottom = difference(half, second) or (0, 0, 0, 0)
    assert left >= TIME[0]
    assert bottom <= TIME[3]


@pytest.mark.parametrize("scene", SCENES)
def test_nights_are_dark_and_grey(scene: str) -> None:
    view = CameraView("c1", "", scene)
    night = draw_picture(view, NOON.replace(hour=3))
    assert brightness(night) < 0.75 * brightness(draw_picture(view, NOON))
    red, _, blue = night.crop((0, 40, 640, 360)).split()
    assert max(ImageStat.Stat(ImageChops.difference(red, blue)).extrema[0]) < 20


@pytest.mark.parametrize("scene", SCENES)
def test_somebody_is_let_in_and_the_door_opens(scene: str) -> None:
    view, moment = CameraView("c1", "", scene), NOON + timedelta(seconds=1.4)
    let_in, refused = (
        draw_picture(view, moment, (Arrival(NOON.timestamp(), "m1", enters),)) for enters in (True, False)
    )
    nobody = draw_picture(view, moment)
    assert difference(let_in, nobody)
    assert difference(refused, nobody)
    assert difference(let_in, refused)
    assert (
        difference(draw_picture(view, NOON, (Arrival(NOON.timestamp() + 60, "m1", True),)), draw_picture(view, NOON))
        is None
    )


def test_people_walk_through_by_day() -> None:
    empty = draw_picture(HALL, quiet(NOON)).crop((0, 40, 640, 360))
    seen = [draw_picture(HALL, NOON + timedelta(seconds=5 * each)).crop((0, 40, 640, 360)) for each in range(40)]
    crossing = sum(difference(picture, empty) is not None for picture in seen)
    assert 3 < crossing < 37


def test_segments_follow_each_other_without_a_gap() -> None:
    start = int(NOON.timestamp())
    frames = []
    for second in (start, start + 2):
        with av.open(BytesIO(video.encode_segment(HALL, second, 2, ()))) as container:
            stream = container.streams.video[0]
            assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 640, 360)
            found = list(container.decode(video=0))
            assert found[0].key_frame
            frames += [float(frame.time) for frame in found]
    assert frames == [12 * 3600 + number / video.FRAMES_PER_SECOND for number in range(4 * video.FRAMES_PER_SECOND)]


def test_time_stamps_begin_anew_at_midnight_and_the_playlist_says_so() -> None:
    midnight = NOON.replace(hour=0)
    around = playlists.live_playlist(midnight + timedelta(seconds=playlists.LAG_SECONDS + 4))
    before, after = around.split("#EXT-X-DISCONTINUITY\n")
    assert f"{int(midnight.timestamp()) - 2}.ts" in before.splitlines()[-1]
    assert f"{int(midnight.timestamp())}.ts" in after.splitlines()[1]
    assert "#EXT-X-DISCONTINUITY\n" not in playlists.live_playlist(NOON)


def test_many_who_want_the_same_let_it_be_made_once() -> None:
    made, together = [], threading.Barrier(5)
    shared = FileCache(2)

    def make() -> bytes:
        made.append(1)
        return b"film"

    def want() -> None:
        together.wait()
        assert shared.get("key", make) == b"film"

    viewers = [threading.Thread(target=want) for _ in range(5)]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join()
    assert len(made) == 1
    for other in ("a", "b"):
        shared.get(other, make)
    shared.get("key", make)
    assert len(made) == 4
