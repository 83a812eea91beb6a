"""A loading dock: roller shutter, pallets, and the staff door beside it."""

from random import Random

from sandbox.cameras.canvas import Canvas, Lens, mix, shade
from sandbox.cameras.light import Light

from .scene import Doorway, Scene, draw_door, sky_colours

_BACK, _LEFT, _RIGHT, _CEILING = 12.0, -6.5, 6.5, 5.0
_SHUTTER = (-1.6, 3.6, 3.6)
_DOORWAY = Doorway(
    left=-4.2,
    right=-3.2,
    height=2.1,
    distance=_BACK,
    approach=((-5.2, 5.8), (-3.3, 11.2)),
    route_through=((-3.3, 11.2), (-3.7, 12.0), (-3.7, 14.0)),
    reader=(-2.88, 1.2),
)


def paint(canvas: Canvas, light: Light, random: Random, opened: bool) -> None:
    bright = light.indoor_brightness
    canvas.horizontal_plane(_LEFT, _RIGHT, 0, 1, _BACK, shade((150, 148, 142), bright))
    for _ in range(14):
        across, away = random.uniform(-5, 5), random.uniform(4, 11)
        size = random.uniform(0.2, 0.8)
        canvas.horizontal_plane(across, across + size, 0.001, away, away + size * 0.6, shade((142, 140, 134), bright))
    for across in (-2.2, 4.2):
        canvas.horizontal_plane(across - 0.08, across + 0.08, 0.002, 2, _BACK, shade((224, 184, 40), bright))
    wall = shade((182, 184, 180), bright)
    canvas.front_wall(_LEFT, _RIGHT, 0, _CEILING, _BACK, wall)
    for across in (-5, -2.4, 4.4):
        canvas.front_wall(across - 0.15, across + 0.15, 0, _CEILING, _BACK, shade(wall, 0.9))
    _shutter(canvas, light, random)
    draw_door(canvas, _DOORWAY, (96, 122, 102), bright, opened)
    canvas.horizontal_plane(_LEFT, _RIGHT, _CEILING, 1, _BACK, shade((116, 120, 124), bright))
    for away in (5.5, 8.0, 10.5):
        lamp = mix((130, 130, 128), (255, 255, 244), light.lamps)
        canvas.horizontal_plane(
            -3.0, 3.0, _CEILING - 0.2, away, away + 0.2, shade(lamp, 1.0 if light.lamps else bright)
        )
    for across in (_LEFT, _RIGHT):
        canvas.side_wall(across, 0, _CEILING, 1, _BACK, shade(wall, 0.84))
        canvas.side_wall(across, 0, 1.1, 1, _BACK, shade((104, 122, 130), bright))
    for left, away, layers in ((4.5, 9.6, 3), (4.4, 7.2, 2), (-6.2, 8.2, 2)):
        _pallet(canvas, left, away, layers, bright, random)


def _shutter(canvas: Canvas, light: Light, random: Random) -> None:
    left, right, high = _SHUTTER
    bright = light.indoor_brightness
    low = 2.5 if light.sun > 0.4 else 0.0
    body = random.choice([(236, 238, 240), (70, 110, 160), (190, 66, 56)])
    if low:
        above, horizon = sky_colours(light)
        canvas.front_wall(left, right, 0, high, _BACK, mix(above, horizon, 0.8))
        canvas.front_wall(left, right, 0, 0.9, _BACK, shade((140, 140, 138), 0.4 + 0.6 * light.sun))
        canvas.front_wall(left + 1.1, right - 0.9, 0.45, high, _BACK, shade(body, 0.35 + 0.65 * light.sun))
        canvas.front_wall(left + 2.57, left + 2.63, 0.5, high, _BACK, shade(body, 0.25 + 0.5 * light.sun))
        for place in (left + 1.4, right - 1.6):
            canvas.front_wall(place, place + 0.4, 0.1, 0.5, _BACK, (34, 34, 36))
        for place in (left + 1.2, right - 1.25):
            canvas.front_wall(place, place + 0.22, 0.55, 0.72, _BACK, (200, 60, 50))
    canvas.front_wall(left, right, low, high, _BACK, shade((166, 172, 178), bright))
    up = low
    while up < high:
        canvas.line((left, up, _BACK), (right, up, _BACK), shade((138, 144, 150), bright), 0.7)
        up += 0.16
    canvas.front_wall(left - 0.14, left, 0, high, _BACK, shade((224, 184, 40), bright))
    canvas.front_wall(right, right + 0.14, 0, high, _BACK, shade((224, 184, 40), bright))
    canvas.front_wall(left - 0.14, right + 0.14, high, high + 0.4, _BACK, shade((120, 126, 132), bright))


def _pallet(canvas: Canvas, left: float, away: float, layers: int, bright: float, random: Random) -> None:
    canvas.box(left, left + 1.5, 0, 0.14, away, away + 1.1, shade((166, 132, 92), bright))
    for layer in range(layers):
        for column in range(3):
            tone = random.choice([(196, 158, 112), (184, 146, 102), (204, 168, 122)])
            low = 0.14 + layer * 0.45
            start = left + column * 0.5
            canvas.box(start, start + 0.48, low, low + 0.43, away, away + 1.0, shade(tone, bright))
            canvas.front_wall(start + 0.2, start + 0.28, low, low + 0.43, away, shade((150, 116, 78), bright))


SCENE = Scene(
    lens=Lens(height=3.6, horizon=78),
    is_outdoors=False,
    paint=paint,
    routes=(
        ((-5.4, 5.6), (2.8, 6.2), (5.6, 5.8)),
        ((5.6, 6.0), (0.6, 7.6), (1.0, 11.9)),
        ((1.6, 11.9), (0.2, 7.0), (-0.4, 2.6)),
    ),
    doorway=_DOORWAY,
)
