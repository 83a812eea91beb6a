"""What can be asked of a door: the five controls of operation 35."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Command(TextChoices):
    UNLOCK = "unlock", _("Unlock")
    LOCK = "lock", _("Lock")
    HOLD = "cont_unlock", _("Hold unlocked")
    IN = "in_unlock", _("Unlock for entry")
    OUT = "out_unlock", _("Unlock for exit")

    @property
    def icon(self) -> str:
        return {"lock": "lock", "cont_unlock": "door-enter"}.get(self.value, "lock-open")
