"""Register the stored sentences about lists of expected guests."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "expected.uploaded": gettext_lazy("List of expected guests uploaded"),
        "expected.started": gettext_lazy("List of expected guests started"),
        "expected.stopped": gettext_lazy("List of expected guests stopped"),
        "expected.continued": gettext_lazy("List of expected guests continued"),
        "expected.discarded": gettext_lazy("List of expected guests discarded"),
        "expected.downloaded": gettext_lazy("List of expected guests downloaded"),
    }
)
register_targets({"expected": gettext_lazy("Expected guests")})
