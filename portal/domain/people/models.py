"""Members, their search table, groups, and guests; and which tables are folded again."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel
from tenants.vault import EncryptedJSON, EncryptedText

# Values of `use_end_key` for members without an end date, and with one that the portal cannot read. Both sort last.
NEVER = 1 << 60
UNREADABLE = NEVER + 1


class Member(TenantModel):
    """A member as last read (specification: "Member", operations 3 and 5).

    - `card_data` and `qrcode` are encrypted; `card_fingerprint` finds a card by its whole number.
    - For a face, only the fact that one is registered is stored. The seed of a one-time QR code is never stored.
    - `extra`: fields that the specification does not name, and values that do not have its types, unchanged.
    - `rights`: {"devices_pass", "keys_pass", "privilege"}; None until a single read or our own creation.
    """

    # Every index of this table begins with the tenant; another index would only slow down the swap.
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)

    member_id = models.TextField(db_collation="C")
    member_name = models.TextField()
    member_code = models.TextField(blank=True, default="")
    membergroup_id = models.TextField(blank=True, default="", db_collation="C")
    membergroup_name = models.TextField(blank=True, default="")
    # Folded forms (text_folding.fold) for sorting by code points and for searching; they are never shown.
    name_key = models.TextField(db_collation="C")
    code_key = models.TextField(blank=True, default="", db_collation="C")
    group_key = models.TextField(blank=True, default="", db_collation="C")

    card_data = EncryptedText(null=True)
    card_fingerprint = models.BinaryField(null=True)
    qrcode = EncryptedJSON(null=True)
    qr_fingerprint = models.BinaryField(null=True)
    has_card = models.BooleanField(default=False)
    has_qr = models.BooleanField(default=False)
    has_face = models.BooleanField(default=False)

    use_date_start = models.DateTimeField(null=True)
    use_date_end = models.DateTimeField(null=True)
    use_end_key = models.BigIntegerField(default=NEVER)  # seconds since 1970 of use_date_end, NEVER or UNREADABLE

    account_type = models.TextField(blank=True, default="")
    has_profile_image = models.BooleanField(null=True)
    rights = models.JSONField(null=True)
    rights_read_at = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)

    # Keyed hash of the list's item that was last stored; None when something newer than the list is stored.
    digest = models.BinaryField(null=True)
    # When our own write or single read last updated the row. A run that began earlier does not change it.
    first_hand_at = models.DateTimeField(null=True)
    # The service no longer knows this member: deleted by us or answered 404. The next complete list removes the row.
    gone_at = models.DateTimeField(null=True)

    # The time of the newest log record about this member, up to a day old (last_seen.py). None: no record.
    last_seen_at = models.DateTimeField(null=True)
    # Another member has the same card. Set at once, but cleared only by the next complete list. Until then it may be
    # wrong, so `queries.members_sharing_card` compares the cards again.
    shares_card = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "member_id"], name="people_member_once")]
        indexes = [
            models.Index(fields=["tenant", "name_key", "id"], name="people_member_by_name"),
            models.Index(fields=["tenant", "code_key", "id"], name="people_member_by_code"),
            models.Index(fields=["tenant", "group_key", "id"], name="people_member_by_group"),
            models.Index(fields=["tenant", "use_end_key", "id"], name="people_member_by_end"),
            models.Index(fields=["tenant", "card_fingerprint"], name="people_member_card", condition=Q(has_card=True)),
            # Lists leave out gone members. With this condition, PostgreSQL can count with the index alone.
            models.Index(
                fields=["tenant", "membergroup_id", "name_key", "id"],
                name="people_member_of_group",
                condition=Q(gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="people_member_with_qr",
                condition=Q(has_qr=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="people_member_with_face",
                condition=Q(has_face=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="people_member_with_none",
                condition=Q(has_card=False, has_qr=False, has_face=False, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="people_member_never_seen",
                condition=Q(last_seen_at__isnull=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="people_member_shares_card",
                condition=Q(shares_card=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "use_date_start"],
                name="people_member_start",
                condition=Q(use_date_start__isnull=False),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="people_member_gone",
                condition=Q(gone_at__isnull=False),
            ),
            models.Index("tenant", models.F("rights_read_at").asc(nulls_first=True), name="people_member_rights"),
        ]

    def __str__(self) -> str:
        return self.member_name


class MemberSearch(models.Model):
    """The search row of a member: keyed hashes of pieces of the name and code, nothing readable.

    Not a TenantModel and without row security on purpose. With row security, PostgreSQL would not use the GIN index,
    because array operators are not leakproof. Every hash depends on the tenant, so a search in another tenant finds
    nothing, and the table shows only numbers. `queries.py`, and `swapping.py` and `local_writes.py` of sync use it.
    Searches return the member's own row, under row security. See docs/decisions/0002-search-table-of-keyed-hashes.md.
    """

    member = models.OneToOneField(Member, on_delete=models.CASCADE, primary_key=True, db_constraint=False)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, db_constraint=False, db_index=False)
    pieces = ArrayField(models.IntegerField())

    class Meta:
        # Searches read the whole pending list (in kB). It is large enough for a swap and cleaned up after each.
        indexes = [GinIndex(fields=["pieces"], gin_pending_list_limit=4096, name="people_membersearch_pieces")]

    def __str__(self) -> str:
        return str(self.member_id)


class RightsChange(TenantModel):
    """A difference between two single reads of a member's access rights that our own writes do not explain.

    The change was made after `since`, when `before` was read, and before `read_at`, when `after` was read.
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    member_id = models.TextField(db_collation="C")
    since = models.DateTimeField(null=True)
    read_at = models.DateTimeField()
    before = models.JSONField()
    after = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["tenant", "member_id", "-read_at"], name="people_rights_change_of")]

    def __str__(self) -> str:
        return f"{self.member_id} {self.read_at:%Y-%m-%d %H:%M}"


class Group(TenantModel):
    """A member group (specification: "Member group"). The API deletes no groups; a list without it deletes the row."""

    membergroup_id = models.TextField(db_collation="C")
    membergroup_name = models.TextField()
    name_key = models.TextField(db_collation="C")
    member_count = models.IntegerField(null=True)
    extra = models.JSONField(default=dict)
    first_hand_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "membergroup_id"], name="people_group_once")]
        indexes = [models.Index(fields=["tenant", "name_key", "id"], name="people_group_by_name")]

    def __str__(self) -> str:
        return self.membergroup_name


class Guest(TenantModel):
    """A guest as last read (specification: "Guest", operations 19 and 21).

    - The code and the e-mail address are encrypted; `qr_fingerprint` shows whether two codes are the same.
    - `detail`: data from single reads and our own writes, None before the first: {"area_id_list", "key_devices_list",
      "return_grace_period", "remarks", "devices_pass", "keys_pass"}, in the service's format.
    - `extra`: fields that the specification does not name, and values that do not have its types, unchanged.
    """

    guest_id = models.TextField(db_collation="C")
    guest_name = models.TextField()
    name_key = models.TextField(db_collation="C")
    email = EncryptedText(null=True)
    use_date_start = models.DateTimeField(null=True)
    use_date_end = models.DateTimeField(null=True)
    key_return_date_end = models.DateTimeField(null=True)
    is_for_reserve = models.BooleanField(null=True)

    qrcode_data = EncryptedText(null=True)
    qr_fingerprint = models.BinaryField(null=True)
    detail = EncryptedJSON(null=True)
    detail_read_at = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)

    # Keyed hash of the list's item that was last stored; None when something newer than the list is stored.
    digest = models.BinaryField(null=True)
    # When our own write or single read last updated the row. A list whose reading began earlier does not change it.
    first_hand_at = models.DateTimeField(null=True)
    # The service no longer knows this guest. The next complete list removes the row.
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "guest_id"], name="people_guest_once")]
        indexes = [models.Index(fields=["tenant", "use_date_end", "id"], name="people_guest_by_end")]

    def __str__(self) -> str:
        return self.guest_name


class Refolding(TenantModel):
    """A table of this tenant whose folded columns are written again (`refolding.py`). It is deleted when all are.

    `place`: where the next batch begins, as the table's own code stores it.
    """

    table = models.CharField(max_length=20)
    place = models.JSONField(null=True)
    due_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "table"], name="people_refolding_once")]
        indexes = [models.Index(fields=["due_at"], name="people_refolding_due")]

    def __str__(self) -> str:
        return self.table
