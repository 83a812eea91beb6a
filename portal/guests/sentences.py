"""Register the stored sentences about guests and presets."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "guest.issue": _("Issue a code: %(guest)s"),
        "guest.change": _("Change guest: %(guest)s"),
        "guest.extend": _("Extend: %(guest)s"),
        "guest.cut_short": _("Code deactivated: %(guest)s"),
        "guest.noted": _("Company and host changed: %(guest)s"),
        "guest.received_without_code": _("Checked in without a code: %(guest)s"),
        "preset.saved": _("Preset saved: %(name)s"),
        "preset.default": _("Preset made the default: %(name)s"),
        "preset.deleted": _("Preset deleted: %(name)s"),
    }
)
register_targets({"guest": _("Guest"), "party": _("Guests"), "preset": _("Preset")})
