"""Register the stored sentences about member groups."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "group.create": _("Create group %(name)s"),
        "group.rename": _("Rename group %(old)s to %(new)s"),
        "groups.export": ngettext_lazy("%(n)s group exported as %(kind)s", "%(n)s groups exported as %(kind)s", "n"),
    }
)
register_targets({"groups": _("Groups"), "membergroup": _("Group")})
