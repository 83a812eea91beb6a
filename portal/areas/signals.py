"""Register the app's parts that other apps run or show."""

from collections.abc import Iterator
from functools import partial

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.areas import access_counts, jobs, queries
from portal.base.ui import command_palette, nav
from portal.base.ui.command_palette import Hit
from portal.base.ui.nav import NavEntry
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.jobs import kinds
from portal.domain.places.models import Area
from portal.domain.sync import freshness
from tenants.access import TenantRequest
from tenants.audit_log import changes, targets
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets


def find_areas(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first areas by name that contain `text`."""
    found = Area.objects.filter(area_name__icontains=text).order_by("name_order", "pk")
    for area in found[: command_palette.MAX_HITS]:
        yield Hit(str(area), reverse("areas:area", args=[request.tenant.slug, area.area_id]), "map-pin")


nav.register(NavEntry("areas", _("Areas"), "map-pin", "areas:index", Permission.AREAS_VIEW))
command_palette.register(
    "areas",
    _("Areas"),
    find_areas,
    Permission.AREAS_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.AREAS),
)
events.subscribe(MirrorKind.RIGHTS, access_counts.update_grants)
events.subscribe(MirrorKind.AREAS, access_counts.compact_tallies)
freshness.register_footer("areas", MirrorKind.AREAS)
kinds.register(jobs.EDIT)
kinds.register(jobs.LOADING)
changes.register_words("area", queries.audit_words)


register_subject("areas", _("Areas"), "area areas")
register_sentences(
    {
        "job.load_rights": ngettext_lazy("Load the rights of %(n)s member", "Load the rights of %(n)s members", "n"),
        "area.grant": _("Give access to %(area)s"),
        "area.grant_until": _("Give access to %(area)s until %(until)s"),
        "area.end": _("End of access to %(area)s"),
        "area.withdraw": _("Remove access to %(area)s"),
        "area.undo": _("Undo: access to %(area)s"),
        "areas.export": ngettext_lazy("%(n)s area exported as %(kind)s", "%(n)s areas exported as %(kind)s", "n"),
        "area.export": ngettext_lazy(
            "People of %(area)s: %(n)s row exported as %(kind)s",
            "People of %(area)s: %(n)s rows exported as %(kind)s",
            "n",
        ),
    }
)
register_targets({"area": _("Area"), "areas": _("All areas")})
targets.register_names("area", Area, "area_id", "area_name")
