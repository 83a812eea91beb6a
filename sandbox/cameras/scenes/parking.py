"""An open-air car park: sky, cars in their bays, a gate in the fence."""

from random import Random

from sandbox.cameras.canvas import Canvas, Lens, shade
from sandbox.cameras.light import Light

from .scene import Doorway, Scene, draw_door, sky_colours

_FENCE = 20.0
_DOORWAY = Doorway(
    left=-11.2,
    right=-10.0,
    height=2.1,
    distance=_FENCE,
    approach=((-11.2, 13.2), (-10.0, 19.2)),
    route_through=((-10.0, 19.2), (-10.6, 20.0), (-10.6, 22.5)),
    reader=(-9.6, 1.2),
)
_PAINTS = [(214, 216, 220), (34, 36, 42), (150, 154, 160), (152, 40, 40), (46, 78, 128), (228, 226, 216)]


def paint(canvas: Canvas, light: Light, random: Random, opened: bool) -> None:
    canvas.fill_gradient(*sky_colours(light))
    day = 0.3 + 0.7 * max(light.sun, light.lamps * 0.5)
    left = -34.0
    while left < 34:
        wide, high = random.uniform(5, 10), random.uniform(4, 11)
        tone = shade(random.choice([(150, 152, 156), (166, 156, 144), (132, 140, 150)]), day * 0.95)
        canvas.front_wall(left, left + wide, 0, high, 38, tone)
        for storey in range(1, int(high // 2.4)):
            for window in range(int(wide // 1.6)):
                lit = random.random() < 0.35 and light.sun < 0.4
                glass = (246, 206, 130) if lit else shade((92, 108, 126), day * 0.9)
                place = left + 0.4 + window * 1.6
                canvas.front_wall(place, place + 0.9, storey * 2.4, storey * 2.4 + 1.3, 38, glass)
        left += wide
    canvas.horizontal_plane(-40, 40, 0, 2, _FENCE, shade((98, 100, 104), day))
    canvas.front_wall(-40, 40, 0, 2.2, _FENCE, shade((158, 160, 154), day))
    canvas.front_wall(-40, 40, 2.1, 2.25, _FENCE, shade((124, 126, 122), day))
    draw_door(canvas, _DOORWAY, (84, 92, 100), day, opened)
    for bay in range(-3, 6):
        canvas.horizontal_plane(bay * 2.7 - 0.06, bay * 2.7 + 0.06, 0.001, 13.0, 17.8, shade((226, 226, 220), day))
    canvas.horizontal_plane(-8.1, 13.5, 0.001, 17.7, 17.8, shade((226, 226, 220), day))
    for bay in (-3, -2, -1, 1, 2, 4, 0, 3):
        if random.random() < 0.6:
            _car(canvas, bay * 2.7 + 0.4, 13.4, shade(random.choice(_PAINTS), day), day)
    canvas.horizontal_plane(-40, 40, 0.001, 7.4, 7.6, shade((224, 188, 48), day))
    canvas.front_wall(7.3, 7.45, 0, 5.2, 12.5, shade((120, 122, 126), day))
    canvas.front_wall(6.6, 7.45, 5.1, 5.25, 12.5, shade((120, 122, 126), day))
    canvas.ball((6.8, 5.05, 12.5), 0.16, (255, 246, 214) if light.lamps else shade((190, 190, 186), day))


def _car(canvas: Canvas, left: float, away: float, paint: tuple[int, int, int], day: float) -> None:
    right = left + 1.8
    canvas.horizontal_plane(left - 0.1, right + 0.1, 0.002, away - 0.1, away + 4.2, shade((58, 60, 64), day))
    canvas.box(left, right, 0.25, 0.85, away, away + 4.1, paint)
    canvas.box(left + 0.15, right - 0.15, 0.85, 1.4, away + 1.1, away + 3.4, paint)
    canvas.front_wall(left + 0.22, right - 0.22, 0.9, 1.34, away + 1.05, shade((62, 76, 90), day))
    for place in (left + 0.1, right - 0.4):
        canvas.front_wall(place, place + 0.3, 0.55, 0.72, away, shade((240, 236, 214), day))
        canvas.front_wall(place, place + 0.3, 0.0, 0.28, away, (22, 22, 24))
    canvas.front_wall(left + 0.6, right - 0.6, 0.38, 0.55, away, shade((240, 240, 236), day))


SCENE = Scene(
    lens=Lens(height=4.6, horizon=72),
    is_outdoors=True,
    paint=paint,
    routes=(
        ((-9.5, 10.8), (9.5, 10.4)),
        ((9.5, 11.4), (0.8, 11.2), (-1.6, 9.0), (-9.0, 9.4)),
        ((2.5, 12.6), (1.0, 10.2), (-8.8, 10.6)),
    ),
    doorway=_DOORWAY,
)
