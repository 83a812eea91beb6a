"""One picture: a camera at a time."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from random import Random
from threading import Lock

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from pylopdf_fonts_jp import sans_path

from sandbox.cameras.canvas import HEIGHT, WIDTH, Canvas, Lens
from sandbox.cameras.light import Light, light_at
from sandbox.cameras.pedestrians import Arrival, Pedestrian, draw_pedestrian, is_door_open, pedestrians_at
from sandbox.cameras.scenes import SCENES
from sandbox.cameras.scenes.scene import Doorway

#: How many times larger a snapshot is than a frame of a video.
SNAPSHOT_SCALE = 2
#: Shapes are drawn this much larger and then reduced, which makes their edges smooth.
_DRAWING_SCALE = 2
_INFRARED_TINT = (1.0, 1.03, 0.98)
# The levels of grey in a camera's infrared picture, for each of the three colours.
_BRIGHTER_LEVELS = [min(255, round(level * 1.5 + 6)) for level in range(256)]
_TINTS = [[min(255, round(level * tint)) for level in range(256)] for tint in _INFRARED_TINT]
# A loaded font keeps state while it draws, and several threads draw pictures.
_one_at_a_time = Lock()


@dataclass(frozen=True)
class CameraView:
    """The properties on which pictures depend besides the time."""

    camera_id: str
    name: str
    scene: str


def draw_picture(view: CameraView, moment: datetime, arrivals: tuple[Arrival, ...] = (), zoom: int = 1) -> Image.Image:
    """Return the picture at this time, in the time's own zone; 640 by 360 pixels, or `zoom` times as much."""
    at = moment.timestamp()
    scene = SCENES[view.scene]
    now = light_at(moment, outdoors=scene.is_outdoors)
    # The furthest first, so that nearer ones cover them.
    seen = [
        (place, passer)
        for passer in pedestrians_at(view.camera_id, view.scene, at, arrivals)
        if (place := passer.position_at(at))
    ]
    room, time = (now, is_door_open(at, arrivals), zoom), f"{moment:%Y-%m-%d %H:%M:%S}"
    if not seen:
        return _draw_empty_room(view, *room, time)
    image = _draw_room(view.camera_id, view.scene, *room).copy()
    lens = _lens_of(view.camera_id, view.scene)
    for place, passer in sorted(seen, key=lambda each: -each[0][1]):
        _draw_walking(image, lens, scene.doorway, now, passer, place, at, zoom)
    return _finish(image, view, now, zoom, time)


# All frames of a second are the same while no person is in view.
@lru_cache(4)
def _draw_empty_room(view: CameraView, now: Light, opened: bool, enlarged: int, time: str) -> Image.Image:
    return _finish(_draw_room(view.camera_id, view.scene, now, opened, enlarged).copy(), view, now, enlarged, time)


def _finish(image: Image.Image, view: CameraView, now: Light, enlarged: int, time: str) -> Image.Image:
    """Return the image with name and time, in grey if the camera sees infrared."""
    if now.is_infrared:
        image = _to_infrared(image)
    size, edge = 15 * enlarged, 10 * enlarged
    for text, left in ((view.name, True), (time, False)):
        if text:
            strip = _draw_caption(text, size)
            image.paste(strip, (edge if left else image.width - strip.width - edge, edge), strip)
    return image


def jpeg(image: Image.Image) -> bytes:
    """Return the picture as a JPEG file."""
    content = BytesIO()
    image.save(content, "JPEG", quality=82)
    return content.getvalue()


def _lens_of(camera_id: str, scene: str) -> Lens:
    """Return the scene's lens; every second camera looks from the other side."""
    lens = SCENES[scene].lens
    return Lens(lens.height, lens.horizon, lens.focal, Random(f"{camera_id}|side").random() < 0.5)  # noqa: S311


# Less than a megabyte each, three for a snapshot: six cameras by day and night, with the door open and closed.
@lru_cache(24)
def _draw_room(camera_id: str, scene: str, now: Light, opened: bool, enlarged: int) -> Image.Image:
    """Return the room without people."""
    canvas = Canvas(_lens_of(camera_id, scene), _DRAWING_SCALE * enlarged)
    SCENES[scene].paint(canvas, now, Random(camera_id), opened)  # noqa: S311 - a room stays as it is
    image = canvas.image.reduce(_DRAWING_SCALE)
    image = ImageChops.multiply(image, _corner_mask(image.size, now))
    grain = Random(camera_id).randbytes((image.width // enlarged) * (image.height // enlarged))  # noqa: S311
    noise = Image.frombytes("L", (WIDTH, HEIGHT), grain).resize(image.size).convert("RGB")
    return Image.blend(image, noise, 0.05 if now.is_infrared else 0.02)


@lru_cache(8)
def _corner_mask(size: tuple[int, int], now: Light) -> Image.Image:
    """Return a mask that darkens the corners; at night the camera's own lamp lights only the middle."""
    radial = Image.radial_gradient("L").resize(size, Image.Resampling.BICUBIC)
    depth = 0.75 if now.is_infrared else 0.26
    return radial.point([round(255 * (1 - depth * (level / 255) ** 1.6)) for level in range(256)]).convert("RGB")


def _to_infrared(image: Image.Image) -> Image.Image:
    grey = image.convert("L").point(_BRIGHTER_LEVELS)
    return Image.merge("RGB", [grey.point(tint) for tint in _TINTS])


def _draw_walking(
    image: Image.Image,
    lens: Lens,
    doorway: Doorway,
    now: Light,
    passer: Pedestrian,
    place: tuple[float, float],
    at: float,
    enlarged: int,
) -> None:
    """Draw a person with their shadow; behind the door only the visible part."""
    across, away = place
    behind = away > doorway.distance
    if behind and not doorway.transparency and not _is_in_doorway(doorway, across):
        return
    scale = lens.pixels_per_metre(away) * enlarged
    ahead = passer.position_at(at + 0.2) or place
    sideways, onwards = abs(ahead[0] - across), ahead[1] - away
    walks = sideways + abs(onwards) > 0.01
    lateral = max(0.25, sideways / (sideways + abs(onwards))) if walks else 0.0
    person = draw_pedestrian(
        passer.who, at if walks else 0.0, scale, now.indoor_brightness, lateral, onwards < 0.02 and walks
    )
    left, down = (part * enlarged for part in lens.point((across, 0.0, away)))
    corner = (round(left - person.width / 2), round(down - 1.9 * scale))
    if not behind:
        _draw_shadow(image, left, down, scale)
        image.paste(person, corner, person)
        return
    layer = Image.new("RGBA", image.size)
    layer.paste(person, corner, person)
    image.paste(
        layer, (0, 0), ImageChops.multiply(layer.getchannel("A"), _doorway_mask(lens, doorway, image.size, enlarged))
    )


def _is_in_doorway(doorway: Doorway, across: float) -> bool:
    return doorway.left - 1 < across < doorway.right + 1


@lru_cache(16)
def _doorway_mask(lens: Lens, doorway: Doorway, size: tuple[int, int], enlarged: int) -> Image.Image:
    """Return a mask of the area in which things behind the door are visible. Glass is larger than the door itself."""
    mask = Image.new("L", size)
    left, right = (-2.95, 2.95) if doorway.transparency else (doorway.left, doorway.right)
    corners = [lens.point((across, up, doorway.distance)) for across, up in ((left, doorway.height), (right, 0.0))]
    (one, top), (other, bottom) = corners
    box = (min(one, other) * enlarged, top * enlarged, max(one, other) * enlarged, bottom * enlarged)
    ImageDraw.Draw(mask).rectangle(box, round(255 * (doorway.transparency or 0.75)))
    return mask


def _draw_shadow(image: Image.Image, left: float, down: float, scale: float) -> None:
    wide, high = max(2, round(0.8 * scale)), max(2, round(0.2 * scale))
    mask = Image.new("L", (wide, high))
    ImageDraw.Draw(mask).ellipse((wide * 0.12, high * 0.12, wide * 0.88, high * 0.88), 96)
    mask = mask.filter(ImageFilter.BoxBlur(max(1, high // 6)))
    image.paste((20, 20, 24), (round(left - wide / 2), round(down - high / 2)), mask)


@lru_cache(4)
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(sans_path(), size)


@lru_cache(128)
def _draw_caption(text: str, size: int) -> Image.Image:
    """Return the text in white on a dark, half transparent strip; `size` is the height of its letters in pixels."""
    with _one_at_a_time:
        font = _font(size)
        wide, pad = font.getlength(text), size * 0.45
        image = Image.new("RGBA", (round(wide + 2 * pad), round(size * 1.5)), (12, 14, 18, 150))
        draw = ImageDraw.Draw(image)
        draw.text((pad, image.height / 2), text, (246, 247, 248, 255), font, "lm")
    return image
