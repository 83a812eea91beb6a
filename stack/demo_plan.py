"""The floor plan of the demonstration: a drawing of walls and door openings, and the positions of its doors."""

from io import BytesIO

from PIL import Image, ImageDraw

NAME = "1F"
_SIZE = (1600, 1000)
_WALL, _GROUND, _OPEN = "#6b6e75", "#ffffff", 70
# Corners of rooms, in thousandths of the width and the height.
_ROOMS = (
    (30, 40, 970, 960), (30, 40, 260, 400), (260, 40, 500, 400), (500, 40, 730, 400), (730, 40, 970, 400),
    (30, 600, 330, 960), (670, 600, 970, 960), (500, 600, 670, 960),
)  # fmt: skip
# Positions of doors by the beginning of their names, in the same unit.
DOOR_PLACES: dict[str, tuple[int, int]] = {
    "正面エントランス 入口": (362, 960),
    "正面エントランス 出口": (472, 960),
    "Loading dock": (30, 500),
    "倉庫": (145, 400),
    "Laboratory": (380, 400),
    "サーバー室 入口": (560, 400),
    "サーバー室 出口": (672, 400),
    "Meeting rooms": (850, 400),
    "管理室": (330, 780),
    "休憩室": (585, 600),
    "役員フロア 入口": (755, 600),
    "役員フロア 出口": (880, 600),
}


def draw_plan() -> bytes:
    """Return the plan as PNG: rooms around a corridor, with an opening at each door."""
    plan = Image.new("RGB", _SIZE, _GROUND)
    pen = ImageDraw.Draw(plan)
    for left, top, right, bottom in _ROOMS:
        pen.rectangle((*_at(left, top), *_at(right, bottom)), outline=_WALL, width=7)
    for x, y in DOOR_PLACES.values():
        across, down = _at(x, y)
        sides = (_OPEN // 2, 6) if y in (400, 600, 960) else (6, _OPEN // 2)
        pen.rectangle((across - sides[0], down - sides[1], across + sides[0], down + sides[1]), fill=_GROUND)
    made = BytesIO()
    plan.save(made, "PNG")
    return made.getvalue()


def place_of(name: str) -> tuple[int, int] | None:
    """Return the position of the door of this name; None for a door on another floor."""
    return next((at for begin, at in DOOR_PLACES.items() if name.startswith(begin)), None)


def _at(x: int, y: int) -> tuple[int, int]:
    return x * _SIZE[0] // 1000, y * _SIZE[1] // 1000
