"""Who holds a right to which area, filed from the members' rights so that an area's page need not open them all.

The mirror keeps a member's rights as one JSON value. Here each becomes rows: one for each area that it names, one with
the area `EVERYWHERE` for rights to all areas or in a mode that the portal does not know, and one with `KNOWN` in any
case. What is given (always, a schedule, a value of a kind unknown here) is kept once for a tenant as a `Pass`: members
share few different ones, so that "who may enter at this moment" is decided once for each pass and found by an index.
"""

from enum import StrEnum

from django.db import models

from portal.core.mirror.models import Member
from tenants.models import TenantModel

#: Instead of an area's id: rights to every area, or of a mode that the portal does not know.
EVERYWHERE = ""
#: Instead of an area's id: one row for every member whose rights are known, so that they are counted with the rest.
KNOWN = "\x01known"


class Pass(TenantModel):
    """A pass {effect, schedule} in canonical form, as it came where it is not understood."""

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
    """A member holds a pass for an area. Goes with the member (in the database: the mirror removes members in SQL)."""

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
    """How many members hold a pass for an area, as differences to be added up.

    The database writes them with every change of Grant; adding rows instead of counting one up means that nobody waits
    for anybody. `grants.tidy` adds them together now and then.
    """

    area_id = models.TextField(db_collation="C")
    held = models.ForeignKey(Pass, on_delete=models.CASCADE, related_name="+")
    members = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["tenant", "area_id"], name="areas_tally_of_area")]

    def __str__(self) -> str:
        return f"{self.area_id}: {self.members:+}"
