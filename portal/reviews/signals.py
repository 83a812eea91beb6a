"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.base.restore import marking
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.events import MirrorKind
from portal.domain.notifications import outbox
from portal.domain.people import refolding
from portal.domain.people.refolding import FoldedTable
from portal.domain.sync import freshness
from portal.reviews import review_worker
from portal.reviews.models import Item, Review
from tenants.audit_log import targets
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("reviews", _("Access reviews"), "checklist", "reviews:index", Permission.REVIEWS_VIEW))
nav.register(
    NavEntry(
        "my_reviews",
        _("My reviews"),
        "checklist",
        "reviews:mine",
        Permission.REVIEWS_DECIDE,
        hidden_with=Permission.REVIEWS_VIEW,
    )
)
review_worker.STEPS.register()
review_worker.REMINDERS.register()
for kind in review_worker.MESSAGES:
    outbox.register(kind)
refolding.register("review_items", FoldedTable(Item, {"name_key": "name"}).fold_batch)
marking.register("reminders", review_worker.mark_reminders_restored)
freshness.register_footer("reviews", MirrorKind.MEMBERS)


register_subject("reviews", _("Access reviews"), "review")
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
            "Access review %(title)s: %(n)s right delegated to %(who)s",
            "Access review %(title)s: %(n)s rights delegated to %(who)s",
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
targets.register_names("review", Review, "pk", "title")
