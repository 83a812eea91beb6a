"""The two commands of operation 36 for keys of one box. Each is sent at most once, within 15 seconds of the click."""

from collections.abc import Sequence

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.limits import INFO_MAX, KEY_TARGETS_MAX
from portal.base.ui.value_words import join_values
from portal.domain.budget.priorities import Priority
from portal.domain.intents.actions import Requester, submit
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Command
from portal.domain.places.models import KeyBox
from tenants.roles import Permission
from tenants.sentences import coded_sentence


class KeyCommand(TextChoices):
    UNLOCK = "unlock", pgettext_lazy("key", "Release")
    LOCK = "lock", pgettext_lazy("key", "Lock")

    def title_for(self, box: object, numbers: Sequence[str]) -> str:
        """Return the command with its keys, such as "Release key 03, 総務キーボックス"."""
        titles = {"unlock": gettext_lazy("Release key %(numbers)s, %(box)s"),
                "lock": gettext_lazy("Lock key %(numbers)s, %(box)s")}  # fmt: skip
        return str(titles[self.value]) % {"numbers": join_values(numbers), "box": box}

    @property
    def icon(self) -> str:
        return "lock" if self is KeyCommand.LOCK else "lock-open"


def send_command(*, box: KeyBox, numbers: Sequence[str], command: KeyCommand, by: Requester, nonce: Nonce) -> Intent:
    """Request the service to release or lock keys of a box now. The returned intent shows the progress.

    Raises NotSubmitted for no keys, for keys that the box does not have, and for more keys than the service accepts at
    once.
    """
    chosen = sorted(set(numbers))
    known = set(box.keys.values_list("unit_no", flat=True))
    if not chosen or set(chosen) - known:
        raise NotSubmitted(_("Nothing was sent. Select keys of this key box."))
    if any(len(number) != 2 or not number.isdecimal() for number in chosen):
        raise NotSubmitted(
            _("Nothing was sent. Only keys with two-digit numbers can be operated remotely. Go to the key box.")
        )
    if len(chosen) > KEY_TARGETS_MAX:
        raise NotSubmitted(_("Nothing was sent. Select at most %(n)d keys.") % {"n": KEY_TARGETS_MAX})
    return submit(
        Command(
            permission=Permission.KEYS_OPERATE,
            operation="operate_keys",
            target=target_of("key_box", box.key_device_id),
            title=coded_sentence(f"key.{command.value}", box=box, numbers=", ".join(chosen)),
            path={"key_device_id": box.key_device_id},
            body={
                "tag": "lock_operation",
                "control": command.value,
                "targets": chosen,
                "info": str(by.user.email)[:INFO_MAX],
            },
            after={"control": command.value, "keys": ", ".join(chosen)},
            priority=Priority.DOORS,
        ),
        by=by,
        nonce=nonce,
    )
