"""Register the area's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject

nav.register(NavEntry("plans", _("Floor plans"), "map-2", "plans:index", Permission.DEVICES_VIEW))


register_subject("plan", _("Floor plans"), "plan")
register_sentences(
    {
        "plan.added": _("Floor plan added: %(name)s"),
        "plan.replaced": _("Floor plan replaced: %(name)s"),
        "plan.edited": _("Floor plan edited: %(name)s"),
        "plan.deleted": _("Floor plan deleted: %(name)s"),
    }
)
