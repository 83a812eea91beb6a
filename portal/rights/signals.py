"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.rights import actions, comparing
from tenants.audit_log import changes
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject

nav.register(NavEntry("rights", _("Rights templates"), "stack-2", "rights:templates", Permission.MEMBERS_VIEW))
kinds.register(comparing.COPY)
changes.register_words("rights_template", actions.template_words)


register_subject("rights", _("Rights templates"), "rights_template")
register_sentences(
    {
        "member.rights": _("Change rights: %(name)s"),
        "job.copy_rights": _("Copy the rights of %(name)s"),
    }
)
