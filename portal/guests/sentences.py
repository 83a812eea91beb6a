"""Register the stored sentences about guests and presets."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "guest.issue": gettext_lazy("Issue a code: %(guest)s"),
        "guest.change": gettext_lazy("Change guest: %(guest)s"),
        "guest.extend": gettext_lazy("Extend: %(guest)s"),
        "guest.cut_short": gettext_lazy("Code deactivated: %(guest)s"),
        "guest.noted": gettext_lazy("Company and host changed: %(guest)s"),
        "guest.received_without_code": gettext_lazy("Checked in without a code: %(guest)s"),
        "preset.saved": gettext_lazy("Preset saved: %(name)s"),
        "preset.default": gettext_lazy("Preset made the default: %(name)s"),
        "preset.deleted": gettext_lazy("Preset deleted: %(name)s"),
    }
)
register_targets({"guest": gettext_lazy("Guest"), "party": gettext_lazy("Guests"), "preset": gettext_lazy("Preset")})
