"""What can be asked of a door: the five controls of operation 35."""

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Command(TextChoices):
    UNLOCK = "unlock", _("Unlock")
    LOCK = "lock", _("Lock")
    HOLD = "cont_unlock", _("Hold unlocked")
    IN = "in_unlock", _("Unlock for entry")
    OUT = "out_unlock", _("Unlock for exit")

    def of(self, door: object) -> str:
        """The command as a person says it: "Unlock 倉庫 入口"."""
        return _SAID[self.value] % {"door": door}

    @property
    def icon(self) -> str:
        return {"lock": "lock", "cont_unlock": "door-enter"}.get(self.value, "lock-open")


_SAID: dict[str, Promise] = {
    "unlock": _("Unlock %(door)s"),
    "lock": _("Lock %(door)s"),
    "cont_unlock": _("Hold %(door)s unlocked"),
    "in_unlock": _("Unlock %(door)s for entry"),
    "out_unlock": _("Unlock %(door)s for exit"),
}
