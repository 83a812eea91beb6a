"""Member groups and areas."""

from django.db import models

from tenants.models import TenantModel


class Group(TenantModel):
    """A member group (specification: "Member group"). The service offers no deletion: a group leaves with the list."""

    membergroup_id = models.TextField(db_collation="C")
    membergroup_name = models.TextField()
    name_key = models.TextField(db_collation="C")
    member_count = models.IntegerField(null=True)
    extra = models.JSONField(default=dict)
    first_hand_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "membergroup_id"], name="mirror_group_once")]
        indexes = [models.Index(fields=["tenant", "name_key", "id"], name="mirror_group_by_name")]

    def __str__(self) -> str:
        return self.membergroup_name


class Area(TenantModel):
    """An area (specification: "Area"). `devices_list` is the service's array of {device_id, in_out}, verbatim."""

    area_id = models.TextField(db_collation="C")
    area_name = models.TextField()
    is_outside = models.BooleanField(null=True)
    is_management = models.BooleanField(null=True)
    devices_list = models.JSONField(default=list)
    extra = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "area_id"], name="mirror_area_once")]

    def __str__(self) -> str:
        return self.area_name


class TenantRecord(TenantModel):
    """What the service says of the tenant itself (specification: "Tenant", operation 1): one row, or none yet.

    `holiday` is settings.holiday, verbatim: with it "Holiday" in a schedule has a meaning. `webhook` is
    settings.webhook without its secret token.
    """

    tenant_name = models.TextField(blank=True, default="")
    holiday = models.JSONField(default=dict)
    webhook = models.JSONField(default=dict)
    extra = models.JSONField(default=dict)
    read_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="mirror_tenantrecord_once")]

    def __str__(self) -> str:
        return self.tenant_name
