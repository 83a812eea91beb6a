"""Register the stored sentences about doors."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "door.unlock": gettext_lazy("Unlock: %(door)s"),
        "door.lock": gettext_lazy("Lock: %(door)s"),
        "door.cont_unlock": gettext_lazy("Hold unlocked: %(door)s"),
        "door.in_unlock": gettext_lazy("Unlock for entry: %(door)s"),
        "door.out_unlock": gettext_lazy("Unlock for exit: %(door)s"),
        "alert_kind.forced": gettext_lazy("Door forced open"),
        "alert_kind.left_open": gettext_lazy("Door left open"),
        "alert_kind.offline": gettext_lazy("Device offline"),
    }
)
register_targets({"pass_controller": gettext_lazy("Door")})
