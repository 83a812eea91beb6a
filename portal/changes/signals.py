"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.changes.actions import BULK_CHANGES
from portal.domain.jobs import kinds
from tenants.roles import Permission

nav.register(NavEntry("changes", _("Bulk changes"), "users-plus", "changes:index", Permission.MEMBERS_VIEW))
for change in BULK_CHANGES.values():
    kinds.register(change.job_kind)
