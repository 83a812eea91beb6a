"""Who may spend the last calls of an hour. Doors come before people, people before jobs, jobs before sync.

Within sync the log comes first: no list and no reading of rights takes a call from it. It spends what is free beyond
the parts kept for doors and people, as a list does that somebody waits for. The others have a quarter of the hour.
"""

from enum import IntEnum


class Priority(IntEnum):
    """Stored with each call spent, so that a person can see who used the hour up."""

    DOORS = 0
    PEOPLE = 1
    JOBS = 2
    SYNC = 3
    WATCHED = 4  # doors and cameras that somebody looks at, beyond sync's share
    AWAITED = 5  # the log, and lists that a person, a notification or an import waits for, beyond sync's share
    OTHERS = 9  # calls that the service says were made with this token, and that we did not make

    @property
    def rank(self) -> float:
        """Return which place this has in the order of calling. Its number is stored, and says when it was added."""
        return 2.5 if self is Priority.AWAITED else float(self)


# Shares of each class's hourly limit, whatever the limit is at this service. A door request draws on both classes:
# sending it on the device class, following it on the general class.
RESERVED_FOR_DOORS = 0.10
RESERVED_FOR_PEOPLE = 0.15
MAX_SHARE_FOR_SYNC = 0.25
# What somebody looks at is read beyond sync's quarter, as jobs are: never from what is kept for doors and people, and
# only while less than this share of the hour is used, by whomever.
MAX_SHARE_FOR_WATCHED = 0.5

# A call counts where it arrives, up to a connect, a read and a slow network after we counted it.
MARGIN_SECONDS = 15
# Calls are counted in steps of this length; a step leaves the window only as a whole.
STEP_SECONDS = 10
# When a limit has ended, doors call first and the others in their order, each so much later.
STAGGER_SECONDS = 0.5


def may_spend(priority: Priority, *, limit: int, used: int, used_by_sync: int) -> bool:
    """Whether one more call of `priority` fits. `used` includes everybody's calls of the sliding hour."""
    if priority == Priority.SYNC and used_by_sync >= max(int(limit * MAX_SHARE_FOR_SYNC), 1):
        return False
    if priority == Priority.WATCHED and used >= int(limit * MAX_SHARE_FOR_WATCHED):
        return False
    return limit - used > reserved_above(priority, limit)


def reserved_above(priority: Priority, limit: int) -> int:
    """How many calls of the hour are kept for those who come before `priority`: a share, and one call at least."""
    kept = 0.0
    if priority > Priority.DOORS:
        kept += RESERVED_FOR_DOORS
    if priority > Priority.PEOPLE:
        kept += RESERVED_FOR_PEOPLE
    least = min(int(priority > Priority.DOORS) + int(priority > Priority.PEOPLE), limit - 1)
    return max(int(limit * kept), least, 0)
