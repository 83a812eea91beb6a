"""The rooms that cameras look at."""

from . import corridor, dock, entrance, lobby, office, parking
from .scene import Scene

SCENES: dict[str, Scene] = {
    "entrance": entrance.SCENE,
    "corridor": corridor.SCENE,
    "office": office.SCENE,
    "dock": dock.SCENE,
    "lobby": lobby.SCENE,
    "parking": parking.SCENE,
}
