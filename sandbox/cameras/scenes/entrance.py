"""The front entrance, seen from the hall: glass doors, and the street behind them."""

from random import Random

from sandbox.cameras.canvas import Canvas, Lens, mix, shade
from sandbox.cameras.light import Light

from .scene import Doorway, Scene, draw_plant, draw_reader, draw_tiles, sky_colours

_BACK, _LEFT, _RIGHT, _CEILING = 8.5, -4.4, 4.4, 3.5
_GLASS, _GLASS_HIGH = 3.0, 2.95
_DOORWAY = Doorway(
    left=-1.05,
    right=1.05,
    height=2.45,
    distance=_BACK,
    approach=((-5.0, 13.0), (-0.5, 9.4)),
    route_through=((-0.5, 9.4), (-0.1, 8.0), (0.5, 0.9)),
    transparency=0.85,
    reader=(1.5, 1.2),
)


def paint(canvas: Canvas, light: Light, random: Random, opened: bool) -> None:
    _street(canvas, light, random)
    bright = light.indoor_brightness
    wall = shade(random.choice([(214, 208, 198), (206, 210, 214), (216, 206, 190)]), bright)
    canvas.horizontal_plane(_LEFT, _RIGHT, 0, 1, _BACK, shade((168, 162, 154), bright))
    draw_tiles(canvas, _LEFT, _RIGHT, _BACK, 0.8, shade((146, 140, 132), bright))
    if light.sun > 0.25:
        canvas.horizontal_plane(-1.9, 1.9, 0.001, 5.6, _BACK, shade((186, 182, 174), bright + 0.1 * light.sun))
    canvas.horizontal_plane(-1.2, 1.2, 0.002, 7.3, _BACK - 0.15, shade((74, 76, 84), bright))
    for left, right, low in ((_LEFT, -_GLASS, 0), (_GLASS, _RIGHT, 0), (-_GLASS, _GLASS, _GLASS_HIGH)):
        canvas.front_wall(left, right, low, _CEILING, _BACK, wall)
    _frames(canvas, bright, opened)
    canvas.horizontal_plane(_LEFT, _RIGHT, _CEILING, 1, _BACK, shade((226, 224, 220), bright))
    for across in (-2.2, 0, 2.2):
        lamp = mix((150, 150, 146), (255, 252, 240), light.lamps)
        canvas.horizontal_plane(
            across - 0.25, across + 0.25, _CEILING, 5.4, 7.6, shade(lamp, 1.0 if light.lamps else bright)
        )
    for across in (_LEFT, _RIGHT):
        canvas.side_wall(across, 0, _CEILING, 1, _BACK, shade(wall, 0.86))
    canvas.front_wall(-1.3, 1.3, 3.06, 3.36, _BACK, shade((66, 84, 108), bright))
    canvas.box(2.35, 4.3, 0, 1.05, 5.2, 6.0, shade((132, 98, 70), bright))
    canvas.box(2.3, 4.3, 1.05, 1.1, 5.15, 6.0, shade((214, 208, 198), bright))
    canvas.front_wall(3.2, 3.75, 1.12, 1.5, 5.6, shade((34, 36, 42), bright + 0.2))
    draw_plant(canvas, -3.75, 7.6, bright, random)
    draw_plant(canvas, -3.75, 5.2, bright, random)
    draw_reader(canvas, *_DOORWAY.reader, _BACK - 0.02, bright, opened)


def _frames(canvas: Canvas, bright: float, opened: bool) -> None:
    steel = shade((104, 108, 114), bright)
    for across in (-_GLASS, -1.15, 1.15, _GLASS):
        canvas.front_wall(across - 0.04, across + 0.04, 0, _GLASS_HIGH, _BACK, steel)
    canvas.front_wall(-_GLASS, _GLASS, 2.45, 2.58, _BACK, steel)
    # The two leaves of the sliding door, before the side panels when it is open.
    shift = 0.95 if opened else 0.0
    for left in (-1.07 - shift, 0.01 + shift):
        for edge in (left, left + 1.06):
            canvas.front_wall(edge - 0.03, edge + 0.03, 0, 2.45, _BACK, shade(steel, 1.15))
        canvas.front_wall(left, left + 1.06, 0.0, 0.1, _BACK, shade(steel, 1.15))
        canvas.front_wall(left, left + 1.06, 1.02, 1.08, _BACK, shade((228, 228, 226), bright))


def _street(canvas: Canvas, light: Light, random: Random) -> None:
    above, horizon = sky_colours(light)
    canvas.fill_gradient(above, horizon)
    day = 0.22 + 0.78 * light.sun
    for number in range(9):
        left = -26 + number * 6 + random.uniform(-1, 1)
        high, away = random.uniform(4, 9), random.uniform(40, 60)
        tone = random.choice([(158, 156, 152), (138, 146, 156), (172, 160, 146), (120, 124, 134)])
        canvas.front_wall(left, left + 5.6, 0, high, away, shade(tone, day))
        for storey in range(int(high // 2)):
            for window in range(4):
                lit = random.random() < 0.45 and light.sun < 0.4
                colour = (250, 214, 140) if lit else shade((88, 104, 122), day)
                place = left + 0.5 + window * 1.3
                canvas.front_wall(place, place + 0.8, storey * 2 + 0.9, storey * 2 + 1.9, away, colour)
    canvas.horizontal_plane(-40, 40, 0, 8, 60, shade((112, 114, 118), day))
    canvas.horizontal_plane(-40, 40, 0.001, 8, 15, shade((158, 156, 150), day))
    for across in range(-12, 13, 3):
        canvas.horizontal_plane(across, across + 1.4, 0.002, 21.6, 22.0, shade((214, 212, 204), day))
    for trunk in (-4.2, 3.4):
        canvas.front_wall(trunk - 0.09, trunk + 0.09, 0, 2.4, 14.5, shade((84, 66, 50), day))
        for _ in range(22):
            leaves = (trunk + random.uniform(-0.9, 0.9), random.uniform(2.1, 3.9), 14.5)
            canvas.ball(leaves, random.uniform(0.25, 0.45), shade((64, random.randint(104, 136), 66), day))


SCENE = Scene(
    lens=Lens(height=2.3, horizon=122),
    is_outdoors=False,
    paint=paint,
    routes=(
        ((-4.3, 4.6), (0.2, 5.0), (4.3, 4.6)),
        ((-0.8, 0.9), (-0.9, 5.4), (-4.3, 4.6)),
        ((5.2, 13.0), (-5.2, 12.6)),
        ((-5.2, 12.2), (5.2, 12.8)),
    ),
    doorway=_DOORWAY,
)
