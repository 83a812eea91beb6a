"""Register the stored sentences about the desk."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, pgettext_lazy

from tenants.sentences import register_actors, register_sentences, register_targets

register_sentences(
    {
        "guest.arrived_by_code": _("Checked in by using the code: %(guest)s"),
        "guests.building_exported": ngettext_lazy(
            "List of %(n)s person in the building exported as %(kind)s",
            "List of %(n)s people in the building exported as %(kind)s",
            "n",
        ),
        "guests.month_exported": ngettext_lazy(
            "%(n)s visit of %(month)s exported as %(kind)s", "%(n)s visits of %(month)s exported as %(kind)s", "n"
        ),
        "guests.erased": ngettext_lazy(
            "Personal data of %(n)s past visit deleted", "Personal data of %(n)s past visits deleted", "n"
        ),
        "desk.settings": _("Desk settings changed"),
        "safety_rule.guest_retention": pgettext_lazy("safety rule", "Desk settings"),
    }
)
register_targets({"desk": _("Desk"), "guests": _("Guests")})
register_actors({"histories": _("The portal")})  # read from the service's log
