"""What staff do with floor plans. They are the portal's own: the service hears nothing of them."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from portal.core.files.pictures import Picture
from portal.core.intents.record import Asker
from portal.plans.models import FloorPlan, Placement
from tenants import audit
from tenants.models import Tenant
from tenants.wording import say

# Of a tenant, and on a plan: more would not be found or seen.
MOST, MOST_PLACED = 60, 500


class NotKept(ValueError):
    """The plan was not kept; the text says why."""


def add(*, name: str, picture: Picture, by: Asker) -> FloorPlan:
    """Keep a plan under a name that no other has. Raises NotKept."""
    with transaction.atomic():
        names = _names(by.tenant)
        if len(names) >= MOST:
            raise NotKept(
                _("At most %(n)d floor plans can be kept. Delete one that is no longer needed.") % {"n": MOST}
            )
        _check_name(name, names)
        plan = FloorPlan.objects.create(name=name, by=by.user, **_drawn(picture))
        _write_down(plan, by, "plan.added", after={"width": plan.width, "height": plan.height})
    return plan


def replace(*, plan: FloorPlan, picture: Picture, by: Asker) -> None:
    """Put another picture in the place of a plan's; what is placed stays where it is."""
    before, drawn = {"width": plan.width, "height": plan.height}, _drawn(picture)
    for name, value in drawn.items():
        setattr(plan, name, value)
    with transaction.atomic():
        plan.save(update_fields=list(drawn))
        after = {"width": plan.width, "height": plan.height}
        _write_down(plan, by, "plan.replaced", before=before, after=after)


def edit(*, plan: FloorPlan, name: str, placed: Iterable[Placement], by: Asker) -> None:
    """Name a plan, and place on it just what is given. Raises NotKept."""
    rows = list(placed)
    with transaction.atomic():
        names = _names(by.tenant)
        if name != plan.name:
            _check_name(name, names)
        before = {"name": plan.name, "placed": Placement.objects.filter(plan=plan).count()}
        Placement.objects.filter(plan=plan).delete()
        Placement.objects.bulk_create(rows)
        plan.name = name
        plan.save(update_fields=["name"])
        _write_down(plan, by, "plan.edited", before=before, after={"name": name, "placed": len(rows)})


def delete(*, plan: FloorPlan, by: Asker) -> None:
    """Forget a plan and what was placed on it."""
    with transaction.atomic():
        _write_down(plan, by, "plan.deleted")
        plan.delete()


def _names(tenant: Tenant) -> set[str]:
    """The names of the tenant's plans, while nobody else adds or renames one."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    return set(FloorPlan.objects.values_list("name", flat=True))


def _check_name(name: str, names: set[str]) -> None:
    if name in names:
        raise NotKept(_("There is already a floor plan with this name."))


def _drawn(picture: Picture) -> dict[str, Any]:
    mark = sha256(picture.content).hexdigest()[:32]
    return {"content": picture.content, "mark": mark, "width": picture.width, "height": picture.height}


def _write_down(plan: FloorPlan, by: Asker, action: str, **told: Any) -> None:
    audit.record(**by.author, action=action, target=f"plan:{plan.pk}", summary=say(action, name=plan.name), **told)
