"""Register the stored sentences about access reviews."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "review.started": _("Access review started: %(title)s"),
        "review.changed": _("Access review changed: %(title)s"),
        "review.confirmed": _("Access confirmed: %(name)s, %(area)s"),
        "review.marked": _("Access to be withdrawn: %(name)s, %(area)s"),
        "review.undone": _("Decision undone: %(name)s, %(area)s"),
        "review.confirmed_many": ngettext_lazy(
            "Access review %(title)s: %(n)s right confirmed", "Access review %(title)s: %(n)s rights confirmed", "n"
        ),
        "review.marked_many": ngettext_lazy(
            "Access review %(title)s: %(n)s right to be withdrawn",
            "Access review %(title)s: %(n)s rights to be withdrawn",
            "n",
        ),
        "review.delegated": ngettext_lazy(
            "Access review %(title)s: %(n)s item delegated to %(who)s",
            "Access review %(title)s: %(n)s items delegated to %(who)s",
            "n",
        ),
        "review.withdrawals": ngettext_lazy(
            "Access review %(title)s: removal of %(n)s right prepared, %(area)s",
            "Access review %(title)s: removal of %(n)s rights prepared, %(area)s",
            "n",
        ),
        "review.finished": _("Access review finished: %(title)s"),
        "review.signed": _("Report of the access review signed: %(title)s"),
        "review.cancelled": _("Access review cancelled: %(title)s"),
        "review.downloaded": _("Report of the access review downloaded: %(title)s"),
    }
)
register_targets({"review": _("Access review")})
