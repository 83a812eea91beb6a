"""The type of a scene, and furniture that several scenes share."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from sandbox.cameras.canvas import Canvas, Colour, Lens, mix, shade
from sandbox.cameras.light import Light

#: Steps of a walking person: metres to the right of the camera and away from it.
Route = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Doorway:
    """The door in the camera's view: people behind `distance` are visible only through the opening."""

    left: float
    right: float
    height: float
    distance: float
    #: To the reader, and from there through the door; reversed if people come towards the camera.
    approach: Route
    route_through: Route
    #: Visibility of the people behind it: glass is clear, an unlit room is not.
    transparency: float = 0.0
    reader: tuple[float, float] = (0.0, 1.2)


@dataclass(frozen=True)
class Scene:
    """A room: its drawing function, the ways of people who cross it, and its door."""

    lens: Lens
    is_outdoors: bool
    paint: Callable[[Canvas, Light, Random, bool], None]
    routes: tuple[Route, ...]
    doorway: Doorway


def draw_tiles(canvas: Canvas, left: float, right: float, far: float, size: float, colour: Colour) -> None:
    """Draw the joints of floor tiles."""
    across = left
    while across <= right + 0.01:
        canvas.line((across, 0, 1), (across, 0, far), colour, 0.7)
        across += size
    away = far
    while away > 1:
        canvas.line((left, 0, away), (right, 0, away), colour, 0.7)
        away -= size


def draw_plant(canvas: Canvas, across: float, away: float, bright: float, random: Random) -> None:
    """Draw a plant in a pot."""
    canvas.box(across - 0.22, across + 0.22, 0, 0.5, away, away + 0.4, shade((176, 170, 160), bright))
    for _ in range(26):
        place = (across + random.uniform(-0.4, 0.4), random.uniform(0.6, 1.5), away)
        canvas.ball(place, random.uniform(0.09, 0.17), shade((54, random.randint(98, 140), 62), bright))


def draw_reader(canvas: Canvas, across: float, up: float, away: float, bright: float, opened: bool) -> None:
    """Draw a card reader: its lamp is red, and green while the door is open."""
    canvas.front_wall(across - 0.07, across + 0.07, up - 0.12, up + 0.12, away, shade((38, 40, 46), bright + 0.2))
    canvas.ball((across, up + 0.05, away), 0.035, (70, 235, 110) if opened else (230, 60, 50))


def draw_door(canvas: Canvas, way: Doorway, colour: Colour, bright: float, opened: bool) -> None:
    """Draw a hinged door in the back wall, dark behind if it is open."""
    left, right, high, away = way.left, way.right, way.height, way.distance
    canvas.front_wall(left - 0.08, right + 0.08, 0, high + 0.08, away, shade((92, 94, 100), bright))
    if opened:
        canvas.front_wall(left, right, 0, high, away, shade((74, 70, 62), bright))
        canvas.side_wall(left, 0, high, away - 0.8, away, shade(colour, bright * 0.8))
    else:
        canvas.front_wall(left, right, 0, high, away, shade(colour, bright))
        canvas.front_wall(left + 0.3, right - 0.3, 1.2, high - 0.25, away, shade((150, 168, 180), bright * 0.8))
        canvas.front_wall(right - 0.16, right - 0.06, 0.95, 1.1, away, shade((215, 215, 210), bright))
    draw_reader(canvas, *way.reader, away, bright, opened)


def sky_colours(light: Light) -> tuple[Colour, Colour]:
    """Return the colours (above, at the horizon): night, a warm dusk, day."""
    if light.sun > 0.6:
        return mix((120, 140, 175), (116, 168, 224), light.sun), mix((222, 196, 170), (214, 230, 240), light.sun)
    dusk = light.sun / 0.6
    return mix((12, 16, 30), (120, 140, 175), dusk), mix((28, 32, 48), (236, 178, 132), dusk)
