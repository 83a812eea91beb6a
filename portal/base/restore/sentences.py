"""Register the stored sentences about a restored database."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "restore.found": _("Data restored from a backup was found. Automatic work is paused."),
        "restore.released": _("Automatic work resumed after a restore"),
    }
)
