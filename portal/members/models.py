"""What the portal keeps about members beside the mirror."""

from django.db import models

from tenants.models import TenantModel
from tenants.vault import EncryptedBytes, EncryptedText


class Portrait(TenantModel):
    """A member's profile picture, small, so that pages show it from our own address and spend no call on it.

    `address` is profile_image_url of the last single read (specification: operation 5): whoever knows it may fetch the
    picture, so it rests encrypted and reaches no browser. `content` is a JPEG made from what was there, or None before
    it was fetched; `mark` changes with the address. docs/decisions/0011-profile-pictures.md.
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
