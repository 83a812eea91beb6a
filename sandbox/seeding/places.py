"""A tenant's areas, doors, key boxes and cameras."""

from dataclasses import dataclass
from random import Random

from sandbox import clock
from sandbox.service.models import Area, Camera, KeyBox, KeyUse, PassController, Tenant

AREAS = [
    ("正面エントランス", True), ("執務室 3F", False), ("執務室 4F", False), ("サーバー室", False),
    ("Meeting rooms", False), ("Laboratory", False), ("役員フロア", False), ("倉庫", False),
    ("Loading dock", True), ("屋上", True), ("休憩室", False), ("管理室", False),
]  # fmt: skip
KEY_BOXES = [("総務キーボックス", 10), ("Vehicle keys", 8), ("サーバーラック鍵", 6)]
KEYS = ["正面玄関", "会議室A", "会議室B", "社用車1", "社用車2", "倉庫", "Rack 1", "Rack 2", "書庫", "金庫室"]
#: Name, scene, area of the door in view. The last one has no connection.
_ALWAYS = [
    ("正面エントランス カメラ", "entrance", "正面エントランス"),
    ("サーバー室前 通路", "corridor", "サーバー室"),
    ("Loading dock camera", "dock", "Loading dock"),
]
_SOMETIMES = [("執務室 3F", "office", "執務室 3F"), ("Lobby (wide)", "lobby", "")]
_AWAY = ("駐車場 カメラ", "parking", "")


@dataclass(frozen=True)
class Places:
    """The created places, for later steps.

    The keys that are `keys_out` are not written yet: their holders are known last.
    """

    areas: list[Area]
    doors: list[PassController]
    boxes: list[KeyBox]
    keys_out: list[KeyUse]


def create_places(tenant: Tenant, random: Random) -> Places:
    """Create twelve areas with one or two doors each, three key boxes; one door and one box without connection."""
    areas = Area.objects.bulk_create(
        Area(
            tenant=tenant,
            area_id=f"a{number:03d}{random.randrange(16**6):06x}",
            name=name,
            is_outside=outside,
            is_management=name == "管理室",
        )
        for number, (name, outside) in enumerate(AREAS, 1)
    )
    doors = PassController.objects.bulk_create(_doors(tenant, areas, random))
    return Places(areas, doors, *_key_boxes(tenant, random))


def _key_boxes(tenant: Tenant, random: Random) -> tuple[list[KeyBox], list[KeyUse]]:
    boxes, taken = [], []
    for number, (name, size) in enumerate(KEY_BOXES, 1):
        key_device_id = f"k{number:03d}{random.randrange(16**6):06x}"
        taken.append(f"{random.randrange(size) + 1:02d}")
        boxes.append(
            KeyBox(
                tenant=tenant,
                key_device_id=key_device_id,
                name=name,
                product_type="key_box_10" if size > 8 else "key_box_8",
                units=[
                    {"unit_no": f"{unit + 1:02d}", "unit_name": KEYS[unit], "restriction": unit == size - 1}
                    for unit in range(size)
                ],
                is_connected=number != len(KEY_BOXES),
            )
        )
    now, made = clock.now(), KeyBox.objects.bulk_create(boxes)
    # Their holders are unknown, so they do not return automatically.
    return made, [KeyUse(box=box, unit_no=unit_no, taken_at=now) for box, unit_no in zip(made, taken, strict=True)]


def _doors(tenant: Tenant, areas: list[Area], random: Random) -> list[PassController]:
    doors = []
    for number, area in enumerate(areas, 1):
        for side in ["in", "out"] if number in {1, 4, 7} else ["in"]:
            doors.append(
                PassController(
                    tenant=tenant,
                    device_id=f"p{number:03d}{side[0]}{random.randrange(16**6):06x}",
                    name=f"{area.name} {'入口' if side == 'in' else '出口'}",
                    area=area,
                    in_out=side,
                    is_connected=area.name != "屋上",
                )
            )
    return doors


def create_cameras(tenant: Tenant, places: Places, seed: str) -> None:
    """Create four to six cameras, most of them at a door. They have their own random source."""
    random = Random(f"{seed}|cameras")  # noqa: S311 - repeated data is intended
    doors = {door.area.name: door for door in places.doors if door.in_out == "in"}
    chosen = [*_ALWAYS, *_SOMETIMES[: random.randint(0, len(_SOMETIMES))], _AWAY]
    Camera.objects.bulk_create(
        Camera(
            tenant=tenant,
            camera_id=f"c{number:03d}{random.randrange(16**6):06x}",
            name=name,
            scene=scene,
            door=doors.get(area),
            is_connected=scene != "parking",
        )
        for number, (name, scene, area) in enumerate(chosen, 1)
    )
