"""People in front of a camera: their positions at a moment, and their appearance."""

import math
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from PIL import Image, ImageDraw

from sandbox.cameras.canvas import Colour, shade
from sandbox.cameras.scenes import SCENES
from sandbox.cameras.scenes.scene import Doorway, Route

#: Seconds that a person takes to walk to the door, waits at it, and at most takes to walk through it or back.
APPROACH_SECONDS, PAUSE_SECONDS, LEAVE_SECONDS = 5.0, 1.0, 8.0
#: Seconds that a door stays open after a person was admitted.
OPEN_SECONDS = 3.0
_METRES_PER_SECOND = 1.25
_SLOT_SECONDS = 40
_COATS: tuple[Colour, ...] = (
    (40, 52, 78), (92, 96, 104), (132, 52, 52), (54, 88, 74), (196, 186, 168), (62, 60, 66), (84, 112, 150),
    (168, 132, 78), (214, 214, 216),
)  # fmt: skip
_TROUSERS: tuple[Colour, ...] = ((38, 40, 48), (66, 68, 76), (96, 86, 74), (44, 58, 86))
_HAIR: tuple[Colour, ...] = ((28, 24, 22), (44, 34, 28), (86, 64, 46), (120, 118, 116))
_SKIN: tuple[Colour, ...] = ((236, 202, 174), (222, 184, 152), (206, 164, 130), (146, 104, 78))


@dataclass(frozen=True)
class Arrival:
    """A person at the camera's door at this time (seconds of the epoch); they enter, or turn back."""

    at: float
    who: str
    is_admitted: bool


@dataclass(frozen=True)
class Pedestrian:
    """A walking person: `steps` are (second, metres to the right, metres away)."""

    who: str
    steps: tuple[tuple[float, float, float], ...]

    def position_at(self, at: float) -> tuple[float, float] | None:
        """Return (to the right, away) at this time; None if the person is not in view."""
        for (start, *here), (end, *there) in pairwise(self.steps):
            if start <= at < end:
                share = (at - start) / (end - start)
                return here[0] + (there[0] - here[0]) * share, here[1] + (there[1] - here[1]) * share
        return None


def pedestrians_at(camera_id: str, scene: str, at: float, arrivals: tuple[Arrival, ...]) -> list[Pedestrian]:
    """Return the people in front of this camera at this time: those at its door, and those who cross the room."""
    found = [_pedestrian_at_door(SCENES[scene].doorway, arrival) for arrival in arrivals]
    slot = int(at // _SLOT_SECONDS)
    found += [passer for number in (slot - 1, slot) if (passer := _pedestrian_crossing(camera_id, scene, number))]
    return [passer for passer in found if passer.position_at(at)]


def is_door_open(at: float, arrivals: tuple[Arrival, ...]) -> bool:
    """Return whether the door is open at this time."""
    return any(arrival.is_admitted and 0 <= at - arrival.at - PAUSE_SECONDS < OPEN_SECONDS for arrival in arrivals)


def _pedestrian_at_door(doorway: Doorway, arrival: Arrival) -> Pedestrian:
    steps = _timed_steps(doorway.approach, arrival.at - APPROACH_SECONDS, APPROACH_SECONDS)
    leaves = arrival.at + PAUSE_SECONDS
    after = doorway.route_through if arrival.is_admitted else tuple(reversed(doorway.approach))
    return Pedestrian(
        arrival.who, (*steps, *_timed_steps(after, leaves, min(LEAVE_SECONDS, _length(after) / _METRES_PER_SECOND)))
    )


def _pedestrian_crossing(camera_id: str, scene: str, slot: int) -> Pedestrian | None:
    """Return the person who crosses the room in this slot of 40 seconds: often by day, rarely at night."""
    random = Random(f"{camera_id}|{slot}")  # noqa: S311 - the same slot shows the same person
    hour = (slot * _SLOT_SECONDS / 3600 + 9) % 24
    likely = 0.5 if 8 <= hour < 19 else 0.2 if 7 <= hour < 21 else 0.02
    if random.random() >= likely:
        return None
    way = random.choice(SCENES[scene].routes)
    if random.random() < 0.5:
        way = tuple(reversed(way))
    start = slot * _SLOT_SECONDS + random.uniform(0, _SLOT_SECONDS)
    return Pedestrian(
        f"{camera_id}|{slot}", _timed_steps(way, start, _length(way) / random.uniform(0.9, 1.2) / _METRES_PER_SECOND)
    )


def _length(way: Route) -> float:
    return sum(math.dist(here, there) for here, there in pairwise(way))


def _timed_steps(way: Route, start: float, seconds: float) -> tuple[tuple[float, float, float], ...]:
    """Return the steps of a way at an even pace."""
    lengths = [math.dist(here, there) for here, there in pairwise(way)]
    steps, walked = [(start, *way[0])], 0.0
    for length, there in zip(lengths, way[1:], strict=True):
        walked += length
        steps.append((start + seconds * walked / sum(lengths), *there))
    return tuple(steps)


@dataclass(frozen=True)
class _Figure:
    """A person of a height, drawn in metres from the feet: `scale` is pixels per metre."""

    draw: ImageDraw.ImageDraw
    tall: float
    scale: float
    bright: float

    def point(self, across: float, up: float) -> tuple[float, float]:
        """Return the pixel of a point."""
        return (0.5 + across * self.tall) * self.scale, (1.9 - up * self.tall) * self.scale

    def limb(self, start: tuple[float, float], end: tuple[float, float], wide: float, colour: Colour) -> None:
        """Draw a line with round ends."""
        tone, width = shade(colour, self.bright), max(1, round(wide * self.scale))
        self.draw.line([self.point(*start), self.point(*end)], tone, width)
        for across, down in (self.point(*start), self.point(*end)):
            self.draw.ellipse((across - width / 2, down - width / 2, across + width / 2, down + width / 2), tone)


def draw_pedestrian(who: str, at: float, size: float, bright: float, lateral: float, towards: bool) -> Image.Image:
    """Draw a walking person on a transparent picture.

    `size` is pixels per metre, `lateral` the share of movement across the view, `towards` whether the face is visible.
    The picture is one metre wide and two high; the feet are a tenth above its lower edge.
    """
    random = Random(who)  # noqa: S311 - the same person looks the same
    coat, trousers, hair, skin = (random.choice(each) for each in (_COATS, _TROUSERS, _HAIR, _SKIN))
    tall, phase = random.uniform(0.92, 1.06), at * 2 * math.pi / 1.05 + random.uniform(0, 6)
    fine = 3 if size < 150 else 2
    scale = size * fine
    image = Image.new("RGBA", (max(4, round(scale)), max(8, round(2 * scale))), (*shade(coat, bright), 0))
    draw = ImageDraw.Draw(image)
    figure = _Figure(draw, tall, scale, bright)
    limb, point = figure.limb, figure.point
    swing = math.sin(phase)
    for side in (-1, 1):
        stride, lift = side * swing * 0.26 * lateral, max(0.0, side * swing) * 0.09 * (1 - lateral)
        hip, foot = (side * 0.07, 0.86), (side * 0.08 + stride, 0.06 + lift)
        knee = (side * 0.08 + stride * 0.45 + 0.03 * lateral, 0.46 + lift)
        for start, end in ((hip, knee), (knee, foot)):
            limb(start, end, 0.13, trousers if side < 0 else shade(trousers, 0.85))
        limb((foot[0] - 0.02, foot[1] - 0.03), (foot[0] + 0.05 * lateral, foot[1] - 0.03), 0.09, (30, 28, 28))
    for side in (-1, 1):
        hand = (side * 0.25 - side * swing * 0.2 * lateral, 0.82 + side * swing * 0.05)
        limb((side * 0.2, 1.36), hand, 0.09, shade(coat, 0.88))
        limb(hand, (hand[0], hand[1] - 0.02), 0.08, skin)
    body = [(-0.2, 1.42), (0.2, 1.42), (0.17, 0.8), (-0.17, 0.8)]
    draw.polygon([point(*corner) for corner in body], shade(coat, bright))
    limb((-0.16, 1.38), (0.16, 1.38), 0.1, coat)
    limb((0, 1.44), (0, 1.5), 0.1, shade(skin, 0.9))
    (across, down), radius = point(0, 1.6), 0.12 * tall * scale
    draw.ellipse(
        (across - radius * 0.9, down - radius * 1.1, across + radius * 0.9, down + radius), shade(hair, bright)
    )
    if towards:
        face = (across - radius * 0.72, down - radius * 0.55, across + radius * 0.72, down + radius * 1.05)
        draw.ellipse(face, shade(skin, bright))
    return image.reduce(fine)
