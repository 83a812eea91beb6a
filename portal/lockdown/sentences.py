"""Register the stored sentences about lockdowns, evacuations and locking afterwards."""

from django.utils.translation import gettext_lazy
from django.utils.translation import ngettext_lazy, pgettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "lockdown.asked": ngettext_lazy(
            "Lockdown asked for, waiting for a second person: %(n)s door",
            "Lockdown asked for, waiting for a second person: %(n)s doors",
            "n",
        ),
        "lockdown.started": ngettext_lazy("Lockdown started: %(n)s door", "Lockdown started: %(n)s doors", "n"),
        "lockdown.sent_again": ngettext_lazy(
            "Lockdown sent again: %(n)s door", "Lockdown sent again: %(n)s doors", "n"
        ),
        "lockdown.released": ngettext_lazy("Lockdown released: %(n)s door", "Lockdown released: %(n)s doors", "n"),
        "lockdown.replaced": ngettext_lazy(
            "Lockdown replaced by a new one: %(n)s door", "Lockdown replaced by a new one: %(n)s doors", "n"
        ),
        "lockdown.withdrawn": ngettext_lazy(
            "Lockdown not confirmed, nothing sent: %(n)s door", "Lockdown not confirmed, nothing sent: %(n)s doors", "n"
        ),
        "lockdown.rehearsed": ngettext_lazy(
            "Lockdown rehearsed, nothing sent: %(n)s door", "Lockdown rehearsed, nothing sent: %(n)s doors", "n"
        ),
        "evacuation.asked": ngettext_lazy(
            "Evacuation unlock asked for, waiting for a second person: %(n)s door",
            "Evacuation unlock asked for, waiting for a second person: %(n)s doors",
            "n",
        ),
        "evacuation.started": ngettext_lazy(
            "Evacuation unlock started: %(n)s door", "Evacuation unlock started: %(n)s doors", "n"
        ),
        "evacuation.sent_again": ngettext_lazy(
            "Evacuation unlock sent again: %(n)s door", "Evacuation unlock sent again: %(n)s doors", "n"
        ),
        "evacuation.released": ngettext_lazy(
            "Evacuation unlock released: %(n)s door", "Evacuation unlock released: %(n)s doors", "n"
        ),
        "evacuation.replaced": ngettext_lazy(
            "Evacuation unlock replaced by a new one: %(n)s door",
            "Evacuation unlock replaced by a new one: %(n)s doors",
            "n",
        ),
        "evacuation.withdrawn": ngettext_lazy(
            "Evacuation unlock not confirmed, nothing sent: %(n)s door",
            "Evacuation unlock not confirmed, nothing sent: %(n)s doors",
            "n",
        ),
        "evacuation.rehearsed": ngettext_lazy(
            "Evacuation unlock rehearsed, nothing sent: %(n)s door",
            "Evacuation unlock rehearsed, nothing sent: %(n)s doors",
            "n",
        ),
        "relock.started": ngettext_lazy(
            "Locking after an evacuation started: %(n)s door", "Locking after an evacuation started: %(n)s doors", "n"
        ),
        "relock.sent_again": ngettext_lazy(
            "Locking after an evacuation sent again: %(n)s door",
            "Locking after an evacuation sent again: %(n)s doors",
            "n",
        ),
        "relock.released": ngettext_lazy(
            "Locking after an evacuation ended: %(n)s door", "Locking after an evacuation ended: %(n)s doors", "n"
        ),
        "relock.replaced": ngettext_lazy(
            "Locking after an evacuation replaced by a new one: %(n)s door",
            "Locking after an evacuation replaced by a new one: %(n)s doors",
            "n",
        ),
        "lockdown.settings": gettext_lazy("Lockdown settings changed"),
        "safety_rule.lockdown": pgettext_lazy("safety rule", "Lockdown settings"),
    }
)
register_targets({"lockdown": gettext_lazy("Lockdown")})
