"""Register the stored sentences about the mirror."""

from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "log.days_asked": ngettext_lazy(
            "Activity log of %(n)s older day loaded: %(days)s", "Activity log of %(n)s older days loaded: %(days)s", "n"
        ),
    }
)
