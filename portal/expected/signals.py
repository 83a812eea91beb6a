"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.expected import actions
from portal.expected.checking import GUESTS
from portal.imports import sheet_kinds
from portal.today import erasing as visits
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_targets

nav.register(
    NavEntry("expected", gettext_lazy("Expected guests"), "calendar", "guests:expected", Permission.GUESTS_DESK)
)
kinds.register(actions.GUEST_LIST_KIND)
sheet_kinds.register(actions.GUEST_LIST_KIND.name, GUESTS)
visits.subscribe(actions.erase_before)


register_sentences(
    {
        "expected.uploaded": gettext_lazy("List of expected guests uploaded"),
        "expected.reread": gettext_lazy("List of expected guests read in another way"),
        "expected.checked": gettext_lazy("Columns of a list of expected guests chosen"),
        "expected.started": gettext_lazy("List of expected guests started"),
        "expected.stopped": gettext_lazy("List of expected guests stopped"),
        "expected.continued": gettext_lazy("List of expected guests continued"),
        "expected.discarded": gettext_lazy("List of expected guests discarded"),
        "expected.downloaded": gettext_lazy("List of expected guests downloaded"),
    }
)
register_targets({"expected": gettext_lazy("Expected guests")})
