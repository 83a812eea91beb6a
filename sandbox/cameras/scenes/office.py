"""An office: rows of desks, windows, and the door in the corner."""

from random import Random

from sandbox.cameras.canvas import Canvas, Lens, mix, shade
from sandbox.cameras.light import Light

from .scene import Doorway, Scene, draw_door, draw_plant, draw_tiles, sky_colours

_BACK, _LEFT, _RIGHT, _CEILING = 9.6, -5.2, 5.2, 2.9
_DOORWAY = Doorway(
    left=-4.3,
    right=-3.3,
    height=2.1,
    distance=_BACK,
    approach=((-3.2, 3.3), (-3.5, 8.8)),
    route_through=((-3.5, 8.8), (-3.8, 9.6), (-3.8, 11.6)),
    reader=(-3.02, 1.2),
)


def paint(canvas: Canvas, light: Light, random: Random, opened: bool) -> None:
    bright = light.indoor_brightness
    wall = shade(random.choice([(222, 222, 218), (212, 216, 220)]), bright)
    canvas.horizontal_plane(
        _LEFT, _RIGHT, 0, 0.6, _BACK, shade(random.choice([(112, 124, 136), (126, 122, 116)]), bright)
    )
    draw_tiles(canvas, _LEFT, _RIGHT, _BACK, 1.0, shade((108, 118, 128), bright))
    canvas.horizontal_plane(_LEFT, _RIGHT, _CEILING, 0.6, _BACK, shade((228, 228, 226), bright))
    for away in (3.4, 5.4, 7.4):
        for across in (-3.2, 0, 3.2):
            lamp = mix((150, 150, 148), (255, 255, 248), light.lamps)
            tone = shade(lamp, 1.0 if light.lamps else bright)
            canvas.horizontal_plane(across - 0.6, across + 0.6, _CEILING, away, away + 0.35, tone)
    canvas.front_wall(_LEFT, _RIGHT, 0, _CEILING, _BACK, wall)
    _windows(canvas, light, random)
    draw_door(canvas, _DOORWAY, (136, 116, 92), bright, opened)
    for across in (_LEFT, _RIGHT):
        canvas.side_wall(across, 0, _CEILING, 0.6, _BACK, shade(wall, 0.88))
    canvas.box(3.9, 5.1, 0, 1.3, 8.9, 9.5, shade((150, 154, 158), bright))
    draw_plant(canvas, -4.75, 8.7, bright, random)
    for away in (7.6, 5.7):
        for across in (-1.9, 0.15, 2.2):
            _desk(canvas, across, away, light, random)


def _windows(canvas: Canvas, light: Light, random: Random) -> None:
    above, horizon = sky_colours(light)
    for left in (-2.3, -0.3, 1.7):
        canvas.front_wall(left, left + 1.8, 1.0, 2.5, _BACK, mix(above, horizon, 0.4))
        canvas.front_wall(left, left + 1.8, 1.0, 1.45, _BACK, horizon)
        for number in range(5):
            place, high = left + number * 0.36, random.uniform(1.2, 1.85)
            tone = shade((126, 132, 142), 0.22 + 0.7 * light.sun)
            canvas.front_wall(place, place + 0.33, 1.0, high, _BACK, tone)
            if light.sun < 0.4:
                canvas.front_wall(place + 0.08, place + 0.16, high - 0.2, high - 0.1, _BACK, (248, 212, 140))
        canvas.front_wall(left, left + 1.8, 2.28, 2.5, _BACK, shade((236, 234, 226), light.indoor_brightness))
        frame = shade((120, 122, 124), light.indoor_brightness)
        canvas.front_wall(left + 0.88, left + 0.92, 1.0, 2.5, _BACK, frame)
        canvas.front_wall(left - 0.05, left + 1.85, 0.93, 1.0, _BACK, frame)


def _desk(canvas: Canvas, left: float, away: float, light: Light, random: Random) -> None:
    bright = light.indoor_brightness
    canvas.box(left, left + 1.7, 0.66, 0.72, away, away + 0.75, shade((206, 196, 178), bright))
    for leg in (left + 0.05, left + 1.6):
        canvas.front_wall(leg, leg + 0.06, 0, 0.66, away, shade((120, 122, 126), bright))
    screen = left + random.uniform(0.35, 0.8)
    awake = random.random() < 0.7 and light.lamps > 0
    canvas.front_wall(screen - 0.03, screen + 0.63, 0.82, 1.22, away + 0.4, shade((30, 32, 36), bright + 0.3))
    canvas.front_wall(screen, screen + 0.6, 0.85, 1.19, away + 0.4, (146, 190, 226) if awake else (20, 24, 30))
    canvas.front_wall(screen + 0.26, screen + 0.34, 0.72, 0.84, away + 0.4, shade((60, 62, 66), bright))
    papers = left + random.uniform(0.05, 1.3)
    canvas.horizontal_plane(papers, papers + 0.25, 0.725, away + 0.1, away + 0.4, shade((244, 244, 240), bright))
    chair = left + random.uniform(0.4, 0.9)
    canvas.box(chair, chair + 0.5, 0.42, 0.5, away - 0.75, away - 0.3, shade((58, 66, 82), bright))
    canvas.front_wall(chair + 0.22, chair + 0.28, 0.06, 0.42, away - 0.5, shade((60, 60, 64), bright))
    canvas.front_wall(chair, chair + 0.5, 0.55, 1.0, away - 0.75, shade((66, 76, 94), bright))


SCENE = Scene(
    lens=Lens(height=2.75, horizon=96),
    is_outdoors=False,
    paint=paint,
    routes=(
        ((-3.4, 3.4), (0.0, 4.0), (3.4, 3.4)),
        ((3.4, 3.4), (-2.6, 4.4), (-2.9, 7.6), (-2.6, 4.2), (-3.4, 3.4)),
        ((0.3, 1.5), (-2.5, 4.4), (-3.6, 3.6)),
    ),
    doorway=_DOORWAY,
)
