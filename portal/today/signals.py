"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.timers import rounds
from portal.base.timers.clock import database_now
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.intents import form_handling
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.safety import rules
from portal.today import actions, erasing, suggesting
from tenants.roles import Permission

nav.register(
    NavEntry(
        "building",
        _("On site"),
        "users",
        "guests:building",
        Permission.BUILDING_VIEW,
        is_in_phone_bar=True,
        hidden_with=Permission.GUESTS_VIEW,
    )
)
# Receptionists have access only to these pages. So shared pages of the tenant are also available here.
nav.register_address("find", Permission.GUESTS_VIEW, "guests:find")
nav.register_address("banners", Permission.GUESTS_VIEW, "guests:banners")
freshness.register_footer("guests", MirrorKind.GUESTS, refresh_url_name="guests:refresh")
form_handling.mount_pages(Permission.GUESTS_DESK, "guests:request_")
rules.register(actions.RULE)
rounds.register(
    "open_visits",
    rounds.tenant_steps(erasing.open_visits, erasing.end_day),
    every=1800.0,
    queue="bulk",
    seconds=60,
)
rounds.register(
    "guests_to_be_forgotten",
    rounds.enqueue_steps("portal.today.tasks.erase", lambda: [erasing.due_visits(database_now())], expires=600),
    every=1800.0,
    queue="bulk",
)
events.subscribe(MirrorKind.HISTORIES, suggesting.on_histories)
events.subscribe(MirrorKind.GUESTS, suggesting.on_guests)
