"""Register the stored sentences about the requests of long jobs."""

from django.utils.translation import gettext_lazy, ngettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "job.part": gettext_lazy("%(job)s: %(what)s (request %(part)d)"),
        "job.creates": ngettext_lazy("create %(n)d member", "create %(n)d members", "n"),
        "job.deletes": ngettext_lazy("delete %(n)d member", "delete %(n)d members", "n"),
        "job.changes": ngettext_lazy("change %(n)d member", "change %(n)d members", "n"),
    }
)
