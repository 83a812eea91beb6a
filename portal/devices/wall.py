"""The board for a screen on a wall: what needs somebody is large, everything else small, and old news say so."""

from django.utils.functional import cached_property

from portal.core.mirror.models import PassController
from portal.devices.board import Board, Tile

# What a screen of 1920 by 1080 has room for, in the space of calm doors; a loud one takes that of several.
ROOM, LOUD_TAKES, MOST_LOUD = 102, 12, 8


class Wall(Board):
    """The doors of the request's tenant as they fit on one screen, the calm ones left out first."""

    @cached_property
    def loud(self) -> list[Tile]:
        return [self._tile(door, None) for door in self._wanting[:MOST_LOUD]]

    @cached_property
    def calm(self) -> list[Tile]:
        """The doors that need nobody, and of those that do whatever is beyond MOST_LOUD."""
        rest = self._wanting[MOST_LOUD:] + [door for door in self.doors if not door.attention]
        return [self._tile(door, None) for door in rest[: max(ROOM - LOUD_TAKES * len(self.loud), 0)]]

    @property
    def left_out(self) -> int:
        """How many doors there is no room for."""
        return len(self.doors) - len(self.loud) - len(self.calm)

    @cached_property
    def _wanting(self) -> list[PassController]:
        return [door for door in self.doors if door.attention]
