"""The kinds of data that are mirrored, and how often each is read."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class MirrorKind(TextChoices):
    """A kind of mirrored data with its own freshness. `RIGHTS` is read in the background, with single reads."""

    MEMBERS = "members", _("Members")
    GROUPS = "groups", _("Groups")
    AREAS = "areas", _("Areas")
    PASS_CONTROLLERS = "pass_controllers", _("Doors")
    KEY_BOXES = "key_boxes", _("Key boxes")
    GUESTS = "guests", _("Guests")
    HISTORIES = "histories", _("Activity log")
    TENANT = "tenant", _("Tenant")
    RIGHTS = "rights", _("Permissions")


# Groups come first, because the list of members shows their names. Histories come last, because their first reading
# waits for everything else; later readings do not (`tasks.py`).
SYNCED_KINDS = (
    MirrorKind.GROUPS,
    MirrorKind.MEMBERS,
    MirrorKind.AREAS,
    MirrorKind.PASS_CONTROLLERS,
    MirrorKind.KEY_BOXES,
    MirrorKind.GUESTS,
    MirrorKind.TENANT,
    MirrorKind.HISTORIES,
)

# Seconds between two complete readings. Lists and rights may use 180 calls an hour. A tenant with 2,000 members and
# 1,000 guests needs about 27: 12 for guests, 8 for members, 4 for groups, 3 for the small lists.
# The log needs another 30.
READ_INTERVALS = {
    MirrorKind.MEMBERS: 15 * 60,
    MirrorKind.GROUPS: 15 * 60,
    MirrorKind.AREAS: 60 * 60,
    MirrorKind.PASS_CONTROLLERS: 60 * 60,
    MirrorKind.KEY_BOXES: 60 * 60,
    MirrorKind.GUESTS: 5 * 60,
    MirrorKind.HISTORIES: 2 * 60,
    MirrorKind.TENANT: 24 * 60 * 60,
    MirrorKind.RIGHTS: 150,
}
