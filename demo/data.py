"""The demonstration's tenants with different contracts, people in every role, and its floor plan.

The floor plan is a drawing of walls and door openings, with the positions of its doors.
"""

import secrets
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageDraw

ENVIRONMENT = "development"


@dataclass(frozen=True)
class Tenant:
    """A customer. `contracts` are its contracts at the service, with `licence` for operating devices by interface."""

    slug: str
    name: str
    contracts: tuple[str, ...]
    members: int
    seed: int


@dataclass(frozen=True)
class Person:
    """A staff member of a tenant, or of the platform if there is no tenant."""

    email: str
    role: str
    tenant: str = ""


TENANTS = (
    Tenant(
        "sakura-building",
        "さくらビル Sakura Building",
        ("door", "key_box", "qr", "face", "licence"),
        2000,
        11,
    ),
    Tenant("minato-office", "みなとオフィス Minato Office", ("door",), 300, 12),
    Tenant("hikari-works", "ひかり製作所 Hikari Works", ("door", "qr"), 120, 13),
)

PEOPLE = (
    Person("owner@sakura-building.example", "owner", "sakura-building"),
    Person("manager@sakura-building.example", "facility manager", "sakura-building"),
    Person("reception@sakura-building.example", "receptionist", "sakura-building"),
    Person("guard@sakura-building.example", "guard", "sakura-building"),
    Person("auditor@sakura-building.example", "auditor", "sakura-building"),
    Person("reviewer@sakura-building.example", "reviewer", "sakura-building"),
    Person("owner@minato-office.example", "owner", "minato-office"),
    Person("owner@hikari-works.example", "owner", "hikari-works"),
    # One person who works for all three, to show switching between tenants.
    *(Person("manager@three-sites.example", "facility manager", tenant.slug) for tenant in TENANTS),
    Person("support@portal.example", "support"),
    Person("operator@portal.example", "operator"),
)


@dataclass(frozen=True)
class DoorProblem:
    """A problem at a door of the first tenant, in minutes before the first start."""

    door: str
    action: str
    minutes: int


# Longer ago than a door may be left open before an alert.
DOOR_PROBLEMS = (DoorProblem("Loading dock 入口", "force", 4), DoorProblem("倉庫 入口", "hold", 9))
# An incident of the first tenant, and the number of log records in it.
INCIDENT, INCIDENT_RECORDS = "夜間に通用口が開けられた件", 8
INCIDENT_NOTE = "警備員が現場を確認。施錠に異常なし。防犯カメラの映像を保全した。"
# An access review of the first tenant: its name, number of areas, days until it is due. Half of its items are decided,
# and every so many-th of these is withdrawn.
REVIEW, REVIEW_AREAS, REVIEW_DAYS, WITHDRAW_EVERY = "2026年下期 入室権限の棚卸し", 6, 14, 5
# A report of the first tenant that is created and sent each week: its kind, language and recipient.
REPORT, REPORT_LANGUAGE, REPORT_TO = "week", "ja", "owner@sakura-building.example"
# The number of door cameras that are intercoms.
INTERCOMS = 2
# A door of the first tenant that is held unlocked for four hours from the first start.
HELD_DOOR = "Meeting rooms 入口"


@dataclass(frozen=True)
class Preset:
    """A preset of a desk. `areas` are names; those that the tenant does not have are left out."""

    name: str
    name_ja: str
    areas: tuple[str, ...]
    minutes: str = ""
    until: str = ""
    grace_minutes: str = "0"
    remarks_en: str = ""
    remarks_ja: str = ""


PRESETS = (
    Preset(
        "Meeting",
        "会議",
        ("正面エントランス", "Meeting rooms", "休憩室"),
        minutes="120",
        remarks_en="Show this code at the entrance. Your host will meet you at the meeting rooms.",
        remarks_ja="入口でこのコードをかざしてください。会議室でお待ちしております。",
    ),
    Preset(
        "Contractor",
        "工事・点検",
        ("正面エントランス", "Loading dock", "倉庫", "屋上"),
        until="18:00",
        grace_minutes="60",
        remarks_en="Please report to the desk when you leave.",
        remarks_ja="お帰りの際は受付へお声がけください。",
    ),
    Preset("Delivery", "配達", ("Loading dock", "倉庫"), minutes="30"),
)

_WORDS = (
    *("amber", "basil", "birch", "candle", "cedar", "cobalt", "copper", "coral", "daisy", "ember", "falcon"),
    *(
        "fern",
        "garnet",
        "ginger",
        "harbor",
        "hazel",
        "indigo",
        "ivory",
        "jasper",
        "juniper",
        "lantern",
        "linen",
    ),
    *(
        "maple",
        "marble",
        "meadow",
        "nutmeg",
        "olive",
        "orchid",
        "pebble",
        "pepper",
        "pine",
        "poppy",
        "quartz",
    ),
    *(
        "raven",
        "river",
        "saffron",
        "silver",
        "sparrow",
        "spruce",
        "summit",
        "thistle",
        "timber",
        "tulip",
        "velvet",
    ),
    *("violet", "walnut", "willow", "winter"),
)


def new_password() -> str:
    """Return a password that is easy to type: two words and four digits."""
    return f"{secrets.choice(_WORDS)}-{secrets.choice(_WORDS)}-{secrets.randbelow(9000) + 1000}"


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
