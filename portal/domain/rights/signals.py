"""Register the stored sentences about templates of rights."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "rights_template.create": gettext_lazy("Rights template created: %(name)s"),
        "rights_template.change": gettext_lazy("Rights template changed: %(name)s"),
        "rights_template.delete": gettext_lazy("Rights template deleted: %(name)s"),
    }
)
register_targets({"rights_template": gettext_lazy("Rights template")})
