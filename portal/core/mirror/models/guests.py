"""Guests, as the service holds them until a week after their end."""

from django.db import models

from tenants.models import TenantModel
from tenants.vault import EncryptedJSON, EncryptedText


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
