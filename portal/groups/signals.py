"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.intents import handlers
from portal.groups import follow
from tenants.roles import Permission

nav.register(NavEntry("groups", _("Groups"), "users-group", "groups:index", Permission.GROUPS_VIEW))
handlers.register("create_membergroup", on_finished=follow.on_finished, reconcile=follow.find_new_group)
handlers.register("update_membergroup", on_finished=follow.on_finished, reconcile=follow.check_name)
