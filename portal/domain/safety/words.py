"""Words of safety rules: those that several use for their values, and stored sentences about changes of rules."""

from django.utils.translation import gettext_lazy, pgettext

from tenants.sentences import register_sentences, register_targets


def on_or_off(is_on: bool) -> str:
    return pgettext("safety", "On") if is_on else pgettext("safety", "Off")


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
