"""Register the stored sentences about templates of rights."""

from django.utils.translation import gettext_lazy

from portal.domain.rights.models import RightsTemplate
from tenants.audit_log import targets
from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "rights_template.create": gettext_lazy("Rights template created: %(name)s"),
        "rights_template.change": gettext_lazy("Rights template changed: %(name)s"),
        "rights_template.delete": gettext_lazy("Rights template deleted: %(name)s"),
    }
)
register_targets({"rights_template": gettext_lazy("Rights template")})
targets.register_names("rights_template", RightsTemplate, "pk", "name")
