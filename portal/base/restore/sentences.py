"""Register the stored sentences about a restored database."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "restore.found": gettext_lazy("Data restored from a backup was found. Automatic work is paused."),
        "restore.released": gettext_lazy("Automatic work resumed after a restore"),
    }
)
