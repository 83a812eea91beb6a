"""Register the stored sentences about floor plans."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "plan.added": _("Floor plan added: %(name)s"),
        "plan.replaced": _("Floor plan replaced: %(name)s"),
        "plan.edited": _("Floor plan edited: %(name)s"),
        "plan.deleted": _("Floor plan deleted: %(name)s"),
    }
)
