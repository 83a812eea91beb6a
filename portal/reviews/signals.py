"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.mirror import freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.reviews import reminding, review_worker
from tenants.roles import Permission

nav.register(NavEntry("reviews", _("Access reviews"), "checklist", "reviews:index", Permission.REVIEWS_VIEW))
nav.register(
    NavEntry(
        "my_reviews",
        _("My reviews"),
        "checklist",
        "reviews:mine",
        Permission.REVIEWS_DECIDE,
        is_in_phone_bar=True,
        hidden_with=Permission.REVIEWS_VIEW,
    )
)
timer_registry.register(
    "reviews", review_worker.DUE.check_due, every=2.0, queue="bulk", due_rows=review_worker.DUE.querysets
)
timer_registry.register(
    "review_reminders",
    reminding.REMINDERS_DUE.check_due,
    every=60.0,
    queue="bulk",
    due_rows=reminding.REMINDERS_DUE.querysets,
)
marking.register("reminders", reminding.mark_reminders_restored)
freshness.register_footer("reviews", MirrorKind.MEMBERS)
