"""The shares of an hour's calls by priority. Doors come before people, people before jobs, jobs before sync.

Loading the log (AWAITED) is not limited to sync's quarter. It may use all calls that are not reserved for doors and
people, and so may lists that someone waits for.
"""

from enum import IntEnum


class Priority(IntEnum):
    """The priority of a call. It is stored with the call, so that people can see what used up the hour."""

    DOORS = 0
    PEOPLE = 1
    JOBS = 2
    SYNC = 3
    WATCHED = 4  # doors and cameras on open pages, beyond sync's share
    AWAITED = 5  # the log, and lists that a person, a notification or an import waits for, beyond sync's share
    OTHERS = 9  # calls with this token that the service reported and the portal did not make

    @property
    def rank(self) -> float:
        """Return the place in the order of calling. It differs from the number, which is stored and must not change."""
        return 2.5 if self is Priority.AWAITED else float(self)


# Shares of each class's hourly limit. A door request uses both classes: sending it is a device call, following it are
# general calls.
RESERVED_FOR_DOORS = 0.10
RESERVED_FOR_PEOPLE = 0.15
MAX_SHARE_FOR_SYNC = 0.25
# Data on open pages may use more than sync's quarter, like jobs. It never uses calls reserved for doors and people, and
# only while less than this share of the hour is used in total.
MAX_SHARE_FOR_WATCHED = 0.5

# The service counts a call on arrival, which may be this much later: connect, read, slow network.
MARGIN_SECONDS = 15
# Calls are counted in steps of this length. Only whole steps leave the window.
STEP_SECONDS = 10
# When a limit has ended, priorities call in their order, each so much later.
STAGGER_SECONDS = 0.5


def may_spend(priority: Priority, *, limit: int, used: int, used_by_sync: int) -> bool:
    """Return True if one more call of `priority` fits. `used` includes all calls of the sliding hour."""
    if priority == Priority.SYNC and used_by_sync >= max(int(limit * MAX_SHARE_FOR_SYNC), 1):
        return False
    if priority == Priority.WATCHED and used >= int(limit * MAX_SHARE_FOR_WATCHED):
        return False
    return limit - used > reserved_above(priority, limit)


def reserved_above(priority: Priority, limit: int) -> int:
    """Return how many calls are reserved for higher priorities: a share, and at least one call each."""
    reserved = 0.0
    if priority > Priority.DOORS:
        reserved += RESERVED_FOR_DOORS
    if priority > Priority.PEOPLE:
        reserved += RESERVED_FOR_PEOPLE
    least = min(int(priority > Priority.DOORS) + int(priority > Priority.PEOPLE), limit - 1)
    return max(int(limit * reserved), least, 0)
