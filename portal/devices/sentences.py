"""Register the stored sentences about doors."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "door.unlock": _("Unlock: %(door)s"),
        "door.lock": _("Lock: %(door)s"),
        "door.cont_unlock": _("Hold unlocked: %(door)s"),
        "door.in_unlock": _("Unlock for entry: %(door)s"),
        "door.out_unlock": _("Unlock for exit: %(door)s"),
        "alert_kind.forced": _("Door forced open"),
        "alert_kind.left_open": _("Door left open"),
        "alert_kind.offline": _("Device offline"),
    }
)
register_targets({"pass_controller": _("Door")})
