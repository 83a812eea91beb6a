"""The portal's own data about members, next to the mirror."""

from django.db import models

from tenants.models import TenantModel
from tenants.vault import EncryptedBytes, EncryptedText


class Portrait(TenantModel):
    """A member's profile picture, small. Pages show it from our own address without an API call.

    `address` is profile_image_url of the last single read (specification: operation 5). Anyone who has it can load the
    picture, so it is encrypted and never sent to a browser. `content` is a JPEG made from the picture, or None before
    it is loaded; `mark` changes with the address. See docs/decisions/0011-serve-profile-pictures-from-the-portal.md.
    """

    member_id = models.TextField(db_collation="C")
    address = EncryptedText()
    mark = models.CharField(max_length=32)
    content = EncryptedBytes(null=True)
    tried_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "member_id"], name="members_portrait_once")]

    def __str__(self) -> str:
        return f"portrait of {self.member_id}"
