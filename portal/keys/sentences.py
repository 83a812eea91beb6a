"""Register the stored sentences about keys."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "key.unlock": _("Release key %(numbers)s: %(box)s"),
        "key.lock": _("Lock key %(numbers)s: %(box)s"),
        "alert_kind.key_overdue": _("Key overdue"),
        "alert_kind.key_wrong": _("Key in the wrong place"),
    }
)
register_targets({"key_box": _("Key box")})
