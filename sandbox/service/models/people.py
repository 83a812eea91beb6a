"""Members, their groups, faces and profile images."""

from django.contrib.postgres.indexes import HashIndex
from django.db import models

from .tenants import Tenant

#: A member's place in the list. With the bare id PostgreSQL would use the primary key for the order, and read all
#: members of other tenants that come before.
CREATION_ORDER = models.F("id") + 0


class Group(models.Model):
    """A member group. The code that writes members updates `member_count`: engine.members and the seeding."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    membergroup_id = models.CharField(max_length=64)
    name = models.CharField(max_length=40)
    member_count = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "membergroup_id"], name="service_group_id")]


class Member(models.Model):
    """A permanent user. `listed` and `detail` hold the record's JSON.

    listed: the fields in the list operation, without names that are stored elsewhere (card, group); detail: the fields
    of the single read only. `qr_data` and `totp_seed` are for authentication.
    """

    # Without an index of one column: those below begin with it, and each costs a large tenant time.
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    member_id = models.CharField(max_length=64)
    group = models.ForeignKey(Group, on_delete=models.PROTECT)
    card_data = models.CharField(max_length=16, null=True)
    listed = models.JSONField(default=dict)
    detail = models.JSONField(default=dict)
    qr_data = models.TextField(null=True)
    totp_seed = models.CharField(max_length=64, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "member_id"], name="service_member_id"),
            # Deferred: a card may move between members of one bulk request.
            models.UniqueConstraint(
                fields=["tenant", "card_data"],
                name="service_member_card",
                deferrable=models.Deferrable.DEFERRED,
            ),
        ]
        indexes = [
            models.Index("tenant", CREATION_ORDER, name="service_member_page"),
            # Not a B-tree, which limits the length: a code's text has no limit.
            HashIndex(fields=["qr_data"], name="service_member_qr"),
        ]


class Face(models.Model):
    """A registered face image, identified by its digest."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    member = models.OneToOneField(Member, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64)
    registered_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="service_face_once")]


class ProfileImage(models.Model):
    """A member's picture, fetched under an address that cannot be guessed."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE)
    token = models.CharField(max_length=64, unique=True)
    content_type = models.CharField(max_length=60)
    content = models.BinaryField()
