"""An index of members' rights by area, so that an area's page need not read the rights of all members.

The mirror keeps a member's rights as one JSON value. Here they become rows: one for each area, and always one with
`KNOWN`. Rights to all areas, or with an unknown mode, become a row with `EVERYWHERE`. Each different pass of a tenant
is stored once as `Pass`. Members share few different passes, so access at a moment is decided once per pass and the
members are found by an index.
"""

from enum import StrEnum

from django.db import models

from portal.domain.people.models import Member
from tenants.models import TenantModel

# : In place of an area ID: rights to every area, or rights with an unknown mode.
EVERYWHERE = ""
# : In place of an area ID: one row for every member whose rights are known, so that these members are counted.
KNOWN = "\x01known"


class Pass(TenantModel):
    """A pass {effect, schedule} in canonical form; if it is not understood, as received."""

    class Kind(StrEnum):
        ALWAYS = "always"
        SCHEDULE = "schedule"
        NEVER = "never"
        UNKNOWN = "unknown"

    digest = models.CharField(max_length=32, db_collation="C")
    body = models.JSONField()
    kind = models.CharField(max_length=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="areas_pass_once")]

    def __str__(self) -> str:
        return self.kind


class Grant(TenantModel):
    """A member's pass for an area.

    The database deletes it with the member, because the mirror deletes members in SQL.
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    member = models.ForeignKey(Member, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    area_id = models.TextField(db_collation="C")
    held = models.ForeignKey(Pass, on_delete=models.CASCADE, db_index=False, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["member", "area_id", "held"], name="areas_grant_once")]
        indexes = [models.Index(fields=["tenant", "area_id", "held", "member"], name="areas_grant_of_area")]

    def __str__(self) -> str:
        return f"{self.member_id} {self.area_id}"


class Tally(TenantModel):
    """A difference in the number of members who hold a pass for an area. The sum of all rows is the number.

    The database adds a row with every change of Grant. Rows are added, not updated, so that transactions do not wait
    for each other. `access_counts.compact_tallies` merges them regularly.
    """

    area_id = models.TextField(db_collation="C")
    held = models.ForeignKey(Pass, on_delete=models.CASCADE, related_name="+")
    members = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["tenant", "area_id"], name="areas_tally_of_area")]

    def __str__(self) -> str:
        return f"{self.area_id}: {self.members:+}"
