"""Register the stored sentences about access to areas."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "job.load_rights": ngettext_lazy("Load the rights of %(n)s member", "Load the rights of %(n)s members", "n"),
        "area.grant": _("Give access to %(area)s"),
        "area.grant_until": _("Give access to %(area)s until %(until)s"),
        "area.end": _("End of access to %(area)s"),
        "area.withdraw": _("Remove access to %(area)s"),
        "area.undo": _("Undo: access to %(area)s"),
        "areas.export": ngettext_lazy("%(n)s area exported as %(kind)s", "%(n)s areas exported as %(kind)s", "n"),
        "area.export": ngettext_lazy(
            "People of %(area)s: %(n)s row exported as %(kind)s",
            "People of %(area)s: %(n)s rows exported as %(kind)s",
            "n",
        ),
    }
)
register_targets({"area": _("Area")})
