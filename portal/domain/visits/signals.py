"""Register the stored sentences about visits, and their folded names."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.domain.people import refolding
from portal.domain.people.refolding import FoldedTable
from portal.domain.visits.models import Visit
from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "guest.arrived": _("Checked in: %(guest)s"),
        "guest.left": _("Checked out: %(guest)s"),
        "guest.back": _("Check-out undone: %(guest)s"),
        "guest.arrival_undone": _("Check-in undone: %(guest)s"),
        "guest.undone": _("Step at the desk undone: %(guest)s"),
        "guests.closed": ngettext_lazy(
            "%(n)s guest of an earlier day checked out", "%(n)s guests of earlier days checked out", "n"
        ),
    }
)
register_targets({"visit": _("Visit")})
refolding.register("visits", FoldedTable(Visit, {"name_key": "guest_name", "host_key": "host_name"}).fold_batch)
