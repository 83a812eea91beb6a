"""Register the stored sentences about decisions on requests."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "intent.applied": gettext_lazy("Recorded as applied: %(what)s"),
        "intent.not_applied": gettext_lazy("Recorded as not applied: %(what)s"),
    }
)
