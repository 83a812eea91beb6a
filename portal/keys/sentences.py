"""Register the stored sentences about keys."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "key.unlock": gettext_lazy("Release key %(numbers)s: %(box)s"),
        "key.lock": gettext_lazy("Lock key %(numbers)s: %(box)s"),
        "alert_kind.key_overdue": gettext_lazy("Key overdue"),
        "alert_kind.key_wrong": gettext_lazy("Key in the wrong place"),
    }
)
register_targets({"key_box": gettext_lazy("Key box")})
