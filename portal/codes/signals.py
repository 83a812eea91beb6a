"""Register the stored sentences about guests' codes and badges."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "guest.code_shown": _("Code shown for %(guest)s"),
        "guest.code_downloaded": _("Code downloaded for %(guest)s"),
        "guest.badge_opened": _("Badge opened for %(guest)s"),
        "guest.badge_downloaded": _("Badge downloaded for %(guest)s"),
        "guest.code_linked": _("Link to the code created for %(guest)s"),
        "guest.code_unlinked": _("Link to the code revoked for %(guest)s"),
    }
)
