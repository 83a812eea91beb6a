"""Members, the table that finds them, their groups, and guests."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from tenants.models import TenantModel
from tenants.vault import EncryptedJSON, EncryptedText

# Values of `use_end_key` for members whose use never ends, and whose end the portal cannot read. Both sort last.
NEVER = 1 << 60
UNREADABLE = NEVER + 1


class Member(TenantModel):
    """A member as last seen (specification: "Member", operations 3 and 5).

    `card_data` and `qrcode` are encrypted; `card_fingerprint` finds a card by its exact number. Of a face only the
    fact that one is registered is kept, and of a one-time QR code never the seed. `extra` holds, verbatim, fields that
    the specification does not name and values that are not of its type. `rights` ({"devices_pass", "keys_pass",
    "privilege"}) is None until a single read or our own creation told it.
    """

    # Every index of this table begins with the tenant: one more would only slow the swap down.
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)

    member_id = models.TextField(db_collation="C")
    member_name = models.TextField()
    member_code = models.TextField(blank=True, default="")
    membergroup_id = models.TextField(blank=True, default="", db_collation="C")
    membergroup_name = models.TextField(blank=True, default="")
    # Folded forms (folding.fold), in the order of code points: they sort and find, and are never shown.
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

    # Keyed hash of the list's item as last taken over; None when something newer than the list is stored.
    digest = models.BinaryField(null=True)
    # When our own write or single read last told about this member. A run that began earlier leaves the row alone.
    first_hand_at = models.DateTimeField(null=True)
    # The service no longer knows this member: deleted by us or answered 404. The next complete list removes the row.
    gone_at = models.DateTimeField(null=True)

    # The newest record of the log about this member, to within a day (last_seen.py). None: there is none.
    last_seen_at = models.DateTimeField(null=True)
    # Another member has the same card. Set with whatever makes it true; taken back by the next complete list, so that
    # until then it may say too much (queries.sharing_a_card).
    shares_card = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "member_id"], name="mirror_member_once")]
        indexes = [
            models.Index(fields=["tenant", "name_key", "id"], name="mirror_member_by_name"),
            models.Index(fields=["tenant", "code_key", "id"], name="mirror_member_by_code"),
            models.Index(fields=["tenant", "group_key", "id"], name="mirror_member_by_group"),
            models.Index(fields=["tenant", "use_end_key", "id"], name="mirror_member_by_end"),
            models.Index(fields=["tenant", "card_fingerprint"], name="mirror_member_card", condition=Q(has_card=True)),
            # Lists leave out those who are gone: with that in the condition, the index alone tells how many there are.
            models.Index(
                fields=["tenant", "membergroup_id", "name_key", "id"],
                name="mirror_member_of_group",
                condition=Q(gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="mirror_member_with_qr",
                condition=Q(has_qr=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="mirror_member_with_face",
                condition=Q(has_face=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="mirror_member_with_none",
                condition=Q(has_card=False, has_qr=False, has_face=False, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="mirror_member_never_seen",
                condition=Q(last_seen_at__isnull=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="mirror_member_shares_card",
                condition=Q(shares_card=True, gone_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "use_date_start"],
                name="mirror_member_start",
                condition=Q(use_date_start__isnull=False),
            ),
            models.Index(
                fields=["tenant", "name_key", "id"],
                name="mirror_member_gone",
                condition=Q(gone_at__isnull=False),
            ),
            models.Index("tenant", models.F("rights_read_at").asc(nulls_first=True), name="mirror_member_rights"),
        ]

    def __str__(self) -> str:
        return self.member_name


class MemberSearch(models.Model):
    """What a member is found by: keyed hashes of pieces of the name and code, and nothing readable.

    Not a TenantModel and without row security, on purpose: PostgreSQL would refuse to use the GIN index (array
    operators are not leakproof). Every hash contains the tenant, so a row answers no other tenant's question, and
    whoever reads the table whole learns numbers. Only `member_search.py` and `member_swap.py` touch it; the member's
    own row, under row security, is what a search returns. docs/decisions/0002-search-table-without-names.md says more.
    """

    member = models.OneToOneField(Member, on_delete=models.CASCADE, primary_key=True, db_constraint=False)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, db_constraint=False, db_index=False)
    pieces = ArrayField(models.IntegerField())

    class Meta:
        # Searches read the pending list (kB) from end to end: long enough for a swap, and worked off after each.
        indexes = [GinIndex(fields=["pieces"], gin_pending_list_limit=4096, name="mirror_membersearch_pieces")]

    def __str__(self) -> str:
        return str(self.member_id)


class RightsChange(TenantModel):
    """Two single reads of a member's rights that mean something else, with no write of ours in between.

    The change happened at some moment after `since`, when `before` was read, and until `read_at`, when `after` was.
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    member_id = models.TextField(db_collation="C")
    since = models.DateTimeField(null=True)
    read_at = models.DateTimeField()
    before = models.JSONField()
    after = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["tenant", "member_id", "-read_at"], name="mirror_rights_change_of")]

    def __str__(self) -> str:
        return f"{self.member_id} {self.read_at:%Y-%m-%d %H:%M}"


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


class Guest(TenantModel):
    """A guest as last seen (specification: "Guest", operations 19 and 21).

    The code and the address rest encrypted; `qr_fingerprint` tells whether two codes are the same. `detail` is what
    only a single read or our own writing tells: {"area_id_list", "key_devices_list", "return_grace_period",
    "remarks", "devices_pass", "keys_pass"}, each as the service says it, None before the first. `extra` keeps,
    verbatim, what the specification does not name and values that are not of its type.
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

    # Keyed hash of the list's item as last taken over; None when something newer than the list is stored.
    digest = models.BinaryField(null=True)
    # When our own write or single read last told about this guest. A list whose reading began earlier leaves it alone.
    first_hand_at = models.DateTimeField(null=True)
    # The service no longer knows this guest. The next complete list removes the row.
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "guest_id"], name="mirror_guest_once")]
        indexes = [models.Index(fields=["tenant", "use_date_end", "id"], name="mirror_guest_by_end")]

    def __str__(self) -> str:
        return self.guest_name
