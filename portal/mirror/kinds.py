"""What is mirrored, and how often."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Kind(TextChoices):
    """A part of the mirror with its own freshness. `RIGHTS` is the trickle of single reads."""

    MEMBERS = "members", _("Members")
    GROUPS = "groups", _("Groups")
    AREAS = "areas", _("Areas")
    PASS_CONTROLLERS = "pass_controllers", _("Doors")
    KEY_BOXES = "key_boxes", _("Key boxes")
    GUESTS = "guests", _("Guests")
    HISTORIES = "histories", _("Histories")
    TENANT = "tenant", _("Tenant")
    RIGHTS = "rights", _("Permissions")


# Groups come first: the list of members shows their names.
SYNCED = (Kind.GROUPS, Kind.MEMBERS, Kind.AREAS, Kind.PASS_CONTROLLERS, Kind.KEY_BOXES)

# Seconds between two complete reads. Three small lists an hour and members every quarter of an hour cost a tenant of
# 2,000 members some fifteen of its 720 calls.
EVERY = {
    Kind.MEMBERS: 15 * 60,
    Kind.GROUPS: 15 * 60,
    Kind.AREAS: 60 * 60,
    Kind.PASS_CONTROLLERS: 60 * 60,
    Kind.KEY_BOXES: 60 * 60,
    Kind.RIGHTS: 150,
}
