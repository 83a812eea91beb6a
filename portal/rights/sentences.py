"""Register the stored sentences about members' rights."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "member.rights": _("Change rights: %(name)s"),
        "job.copy_rights": _("Copy the rights of %(name)s"),
    }
)
