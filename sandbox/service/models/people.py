"""Members, their groups, faces and profile images."""

from django.contrib.postgres.indexes import HashIndex
from django.db import models

from .tenants import Tenant

#: Where a member comes in the list. By the bare id, the primary key would do for the order too, and reading all members
#: of others who came before is what the database then takes to be quickest.
PLACE = models.F("id") + 0


class Group(models.Model):
    """A member group. `member_count` is kept by whoever writes members: the desk, and the seeding."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    membergroup_id = models.CharField(max_length=64)
    name = models.CharField(max_length=40)
    member_count = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "membergroup_id"], name="service_group_id")]


class Member(models.Model):
    """A permanent user. `listed` and `detail` hold the record as it goes over the wire.

    listed: what the list operation shows of a member, without the names that live elsewhere (card, group);
    detail: what only the single read shows besides. `qr_data` and `totp_seed` are what authentication needs.
    """

    # Without an index of its own: those below begin with it, and each costs a large tenant time.
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
            # Deferred: members of one bulk request may hand a card on.
            models.UniqueConstraint(
                fields=["tenant", "card_data"],
                name="service_member_card",
                deferrable=models.Deferrable.DEFERRED,
            ),
        ]
        indexes = [
            models.Index("tenant", PLACE, name="service_member_page"),
            # Not a tree: what a code says has no limit of length, and a tree has one.
            HashIndex(fields=["qr_data"], name="service_member_qr"),
        ]


class Face(models.Model):
    """A registered face image, known by its digest."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    member = models.OneToOneField(Member, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64)
    registered_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="service_face_once")]


class ProfileImage(models.Model):
    """A member's picture, fetched under an address nobody can guess."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE)
    token = models.CharField(max_length=64, unique=True)
    content_type = models.CharField(max_length=60)
    content = models.BinaryField()
