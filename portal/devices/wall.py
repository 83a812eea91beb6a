"""The board for a screen on a wall: what needs somebody is large, everything else small, and old news say so."""

from django.utils.functional import cached_property

from portal.core.mirror.models import PassController
from portal.devices.board import DoorBoard, DoorTile

# What a screen of 1920 by 1080 has room for, in the space of calm doors; a loud one takes that of several.
ROOM, URGENT_SPACE, MOST_URGENT = 102, 12, 8


class DoorWall(DoorBoard):
    """The doors of the request's tenant as they fit on one screen, the calm ones left out first."""

    @cached_property
    def urgent_tiles(self) -> list[DoorTile]:
        return [self._tile(door, None) for door in self._urgent_doors[:MOST_URGENT]]

    @cached_property
    def other_tiles(self) -> list[DoorTile]:
        """The doors that need nobody, and of those that do whatever is beyond MOST_LOUD."""
        rest = self._urgent_doors[MOST_URGENT:] + [door for door in self.doors if not door.attention]
        return [self._tile(door, None) for door in rest[: max(ROOM - URGENT_SPACE * len(self.urgent_tiles), 0)]]

    @property
    def hidden_count(self) -> int:
        """How many doors there is no room for."""
        return len(self.doors) - len(self.urgent_tiles) - len(self.other_tiles)

    @cached_property
    def _urgent_doors(self) -> list[PassController]:
        return [door for door in self.doors if door.attention]
