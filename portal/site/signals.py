"""Register the menu entries of the pages of `tenants`."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from tenants.roles import Permission

nav.register(
    NavEntry("connection", _("Connection"), "plug-connected", "connection:index", Permission.CONNECTION_VIEW, "tenant")
)
nav.register(NavEntry("staff", _("Staff"), "id-badge-2", "staff:index", Permission.STAFF_VIEW, "tenant"))
nav.register(NavEntry("audit", _("Audit log"), "list-check", "audit:index", Permission.AUDIT_VIEW, "tenant"))
nav.register(NavEntry("roles", _("Roles"), "shield-check", "roles:index", Permission.TENANT_VIEW, "tenant"))
