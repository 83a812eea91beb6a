"""A corridor that ends at the watched door."""

from random import Random

from sandbox.cameras.canvas import Canvas, Lens, mix, shade
from sandbox.cameras.light import Light

from .scene import Doorway, Scene, draw_door, draw_tiles

_BACK, _HALF, _CEILING = 9.0, 1.35, 2.7
_DOORWAY = Doorway(
    left=-0.5,
    right=0.5,
    height=2.1,
    distance=_BACK,
    approach=((-0.2, 1.1), (0.3, 8.2)),
    route_through=((0.3, 8.2), (0.0, 9.0), (0.0, 10.8)),
    reader=(0.78, 1.2),
)


def paint(canvas: Canvas, light: Light, random: Random, opened: bool) -> None:
    bright = light.indoor_brightness
    wall = shade(random.choice([(220, 218, 210), (208, 216, 218), (222, 214, 202)]), bright)
    skirting = shade((120, 116, 110), bright)
    canvas.horizontal_plane(
        -_HALF, _HALF, 0, 0.6, _BACK, shade(random.choice([(146, 152, 156), (158, 148, 134)]), bright)
    )
    draw_tiles(canvas, -_HALF, _HALF, _BACK, 0.45, shade((132, 134, 134), bright))
    canvas.horizontal_plane(-_HALF, _HALF, _CEILING, 0.6, _BACK, shade((230, 230, 226), bright))
    for away in (1.6, 3.6, 5.6, 7.6):
        lamp = mix((150, 150, 148), (255, 255, 246), light.lamps)
        canvas.horizontal_plane(
            -0.32, 0.32, _CEILING, away, away + 0.9, shade(lamp, 1.0 if light.lamps else bright * 0.9)
        )
    canvas.front_wall(-_HALF, _HALF, 0, _CEILING, _BACK, shade(wall, 0.94))
    canvas.front_wall(-_HALF, _HALF, 0, 0.12, _BACK, skirting)
    draw_door(canvas, _DOORWAY, (92, 112, 128), bright, opened)
    canvas.front_wall(-0.45, 0.45, 2.26, 2.5, _BACK, (34, 140, 84) if light.lamps else (40, 190, 110))
    canvas.front_wall(-0.38, -0.14, 2.3, 2.46, _BACK, (236, 246, 240))
    for side in (-1, 1):
        across = side * _HALF
        canvas.side_wall(across, 0, _CEILING, 0.6, _BACK, shade(wall, 0.84 if side < 0 else 0.9))
        for away in (2.2, 4.5, 6.8):
            canvas.side_wall(across, 0, 2.1, away, away + 1.0, shade((150, 128, 100), bright * 0.95))
            canvas.side_wall(across, 0.92, 1.02, away + 0.1, away + 0.24, shade((222, 220, 214), bright))
            canvas.side_wall(across, 1.5, 1.72, away + 1.2, away + 1.5, shade((246, 246, 244), bright))
        for low, high, tone in ((0, 0.12, skirting), (0.86, 0.94, shade((170, 166, 156), bright))):
            for near, far in ((0.6, 2.2), (3.2, 4.5), (5.5, 6.8), (7.8, _BACK)):
                canvas.side_wall(across, low, high, near, far, tone)
    canvas.side_wall(_HALF, 0.9, 1.45, 3.6, 3.85, shade((196, 52, 46), bright))


SCENE = Scene(
    lens=Lens(height=2.35, horizon=132),
    is_outdoors=False,
    paint=paint,
    routes=(
        ((0.3, 1.1), (0.5, 4.6), (1.15, 5.0)),
        ((-1.15, 7.3), (-0.6, 7.0), (-0.4, 1.1)),
        ((1.15, 7.3), (0.4, 7.0), (0.3, 5.4), (-1.15, 5.0)),
    ),
    doorway=_DOORWAY,
)
