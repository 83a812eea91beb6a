"""The board for a wall screen: doors that need attention are large, others small, and old data are marked."""

from django.utils.functional import cached_property

from portal.devices.board import DoorBoard, DoorTile
from portal.domain.mirror.models import PassController

# The room of a 1920 by 1080 screen, counted in small tiles; the room of a large tile; the most large tiles.
WALL_ROOM, URGENT_SPACE, MAX_URGENT = 102, 12, 8


class DoorWall(DoorBoard):
    """The tenant's doors that fit on one screen. Doors without problems are left out first."""

    @cached_property
    def urgent_tiles(self) -> list[DoorTile]:
        return [self._tile(door, None) for door in self._urgent_doors[:MAX_URGENT]]

    @cached_property
    def other_tiles(self) -> list[DoorTile]:
        """Return the doors with small tiles: those without problems, and urgent ones beyond MAX_URGENT."""
        rest = self._urgent_doors[MAX_URGENT:] + [door for door in self.doors if not door.attention]
        return [self._tile(door, None) for door in rest[: max(WALL_ROOM - URGENT_SPACE * len(self.urgent_tiles), 0)]]

    @property
    def hidden_count(self) -> int:
        """Return the number of doors that do not fit."""
        return len(self.doors) - len(self.urgent_tiles) - len(self.other_tiles)

    @cached_property
    def _urgent_doors(self) -> list[PassController]:
        return [door for door in self.doors if door.attention]
