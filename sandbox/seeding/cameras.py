"""A tenant's cameras."""

from random import Random

from sandbox.seeding.places import Places
from sandbox.service.models import Camera, Tenant

#: Name, scene, area of the door that it watches. The last one is out of reach.
_ALWAYS = [
    ("正面エントランス カメラ", "entrance", "正面エントランス"),
    ("サーバー室前 通路", "corridor", "サーバー室"),
    ("Loading dock camera", "dock", "Loading dock"),
]
_SOMETIMES = [("執務室 3F", "office", "執務室 3F"), ("Lobby (wide)", "lobby", "")]
_AWAY = ("駐車場 カメラ", "parking", "")


def create_cameras(tenant: Tenant, places: Places, seed: str) -> None:
    """Four to six cameras, most of them at a door. They have a random stream of their own."""
    random = Random(f"{seed}|cameras")  # noqa: S311 - data that repeats is the point
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
