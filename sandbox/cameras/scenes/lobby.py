"""A lobby: lifts, sofas, plants, a glazed door to the offices."""

from random import Random

from sandbox.cameras.canvas import Canvas, Lens, mix, shade
from sandbox.cameras.light import Light

from .scene import Doorway, Scene, draw_door, draw_plant, draw_tiles

_BACK, _LEFT, _RIGHT, _CEILING = 9.5, -5.0, 5.0, 3.2
_DOORWAY = Doorway(
    left=2.6,
    right=3.7,
    height=2.2,
    distance=_BACK,
    approach=((4.2, 4.4), (2.8, 8.7)),
    route_through=((2.8, 8.7), (3.1, 9.5), (3.1, 11.5)),
    reader=(4.0, 1.2),
)


def paint(canvas: Canvas, light: Light, random: Random, opened: bool) -> None:
    bright = light.indoor_brightness
    stone = shade(random.choice([(196, 188, 176), (178, 182, 186)]), bright)
    canvas.horizontal_plane(_LEFT, _RIGHT, 0, 0.8, _BACK, shade((186, 180, 172), bright))
    draw_tiles(canvas, _LEFT, _RIGHT, _BACK, 1.0, shade((164, 158, 150), bright))
    canvas.front_wall(_LEFT, _RIGHT, 0, _CEILING, _BACK, stone)
    for away_line in (1.07, 2.14):
        canvas.line((_LEFT, away_line, _BACK), (_RIGHT, away_line, _BACK), shade(stone, 0.92), 0.8)
    for left in (-3.4, -1.0):
        canvas.front_wall(left - 0.1, left + 1.5, 0, 2.4, _BACK, shade((96, 92, 86), bright))
        canvas.front_wall(left, left + 0.69, 0, 2.3, _BACK, shade((176, 180, 184), bright))
        canvas.front_wall(left + 0.71, left + 1.4, 0, 2.3, _BACK, shade((166, 170, 176), bright))
        canvas.front_wall(left + 0.45, left + 0.95, 2.48, 2.68, _BACK, (26, 28, 32))
        canvas.front_wall(left + 0.64, left + 0.76, 2.52, 2.64, _BACK, (246, 150, 60))
    canvas.front_wall(-1.6, -1.45, 1.0, 1.35, _BACK, shade((60, 62, 66), bright))
    draw_door(canvas, _DOORWAY, (108, 124, 118), bright, opened)
    canvas.front_wall(0.9, 2.1, 1.3, 2.3, _BACK, shade((70, 96, 120), bright))
    canvas.front_wall(1.0, 2.0, 1.4, 2.2, _BACK, shade((204, 190, 150), bright))
    canvas.horizontal_plane(_LEFT, _RIGHT, _CEILING, 0.8, _BACK, shade((232, 230, 226), bright))
    for away in (4.6, 6.6, 8.6):
        for across in (-3, -1, 1, 3):
            lamp = mix((150, 150, 146), (255, 250, 232), light.lamps)
            tone = shade(lamp, 1.0 if light.lamps else bright)
            canvas.horizontal_plane(across - 0.15, across + 0.15, _CEILING, away, away + 0.3, tone)
    for side in (_LEFT, _RIGHT):
        canvas.side_wall(side, 0, _CEILING, 0.8, _BACK, shade(stone, 0.86))
    canvas.horizontal_plane(-4.6, -1.7, 0.001, 5.4, 7.9, shade((120, 108, 112), bright))
    fabric = shade(random.choice([(92, 104, 124), (128, 92, 84), (98, 112, 96)]), bright)
    canvas.box(-4.5, -2.3, 0, 0.42, 7.3, 8.0, fabric)
    canvas.front_wall(-4.5, -2.3, 0.42, 0.85, 7.95, shade(fabric, 1.08))
    canvas.box(-4.0, -2.8, 0, 0.36, 6.3, 6.8, shade((150, 118, 84), bright))
    draw_plant(canvas, -4.6, 8.8, bright, random)
    draw_plant(canvas, 4.5, 8.6, bright, random)


SCENE = Scene(
    lens=Lens(height=2.8, horizon=100),
    is_outdoors=False,
    paint=paint,
    routes=(
        ((4.4, 4.6), (0.4, 6.0), (-0.3, 9.3)),
        ((-0.3, 9.3), (0.4, 7.8), (1.0, 1.6)),
        ((4.3, 4.6), (-4.3, 4.6)),
        ((-4.2, 4.4), (1.8, 5.4), (4.6, 4.8)),
    ),
    doorway=_DOORWAY,
)
