"""Register the stored sentences about safety rules and their changes."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "safety.loosened": gettext_lazy("Safety rule loosened by an owner: %(rule)s"),
        "safety.asked": gettext_lazy("Change requested that needs a second person: %(rule)s"),
        "safety.confirmed": gettext_lazy("Change confirmed as the second person, requested by %(who)s: %(rule)s"),
        "safety.refused": gettext_lazy("Change declined, requested by %(who)s: %(rule)s"),
        "safety.withdrawn": gettext_lazy("Change cancelled before it was confirmed: %(rule)s"),
        "safety.expired": gettext_lazy("Change expired before it was confirmed: %(rule)s"),
        "safety.void": gettext_lazy("Change no longer valid: %(rule)s"),
    }
)
register_targets({"safety": gettext_lazy("Safety rule")})
