"""What staff do with floor plans. They are the portal's own: the service hears nothing of them."""

from collections.abc import Iterable, Mapping
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
At = tuple[int, int]  # thousandths of the picture's width and height


class NotKept(ValueError):
    """The plan was not kept; the text says why."""


class ChangedMeanwhile(Exception):
    """The plan was not kept: somebody else placed some of the same things. `keys` are those."""

    def __init__(self, keys: Iterable[str]) -> None:
        super().__init__()
        self.keys = frozenset(keys)


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


def edit(*, plan: FloorPlan, name: str, placed: Iterable[Placement], was: Mapping[str, At], by: Asker) -> None:
    """Name a plan, and place on it what is given. What stands as it `was` in the form is left as it is by now.

    Raises NotKept, and ChangedMeanwhile where somebody else placed the same thing elsewhere since.
    """
    with transaction.atomic():
        names = _names(by.tenant)
        if name != plan.name:
            _check_name(name, names)
        before = {"name": plan.name, "placed": Placement.objects.filter(plan=plan).count()}
        rows = _merged(plan, {row.key: row for row in placed}, was)
        Placement.objects.filter(plan=plan).delete()
        Placement.objects.bulk_create(rows)
        plan.name = name
        plan.save(update_fields=["name"])
        _write_down(plan, by, "plan.edited", before=before, after={"name": name, "placed": len(rows)})


def _merged(plan: FloorPlan, mine: Mapping[str, Placement], was: Mapping[str, At]) -> list[Placement]:
    """Return what is to stand on a plan: what somebody changed in a form, over what stands there now."""
    there = {row.key: row for row in Placement.objects.filter(plan=plan)}
    both = []
    for key in {*there, *mine, *was}:
        wanted, now, before = _at(mine.get(key)), _at(there.get(key)), was.get(key)
        if wanted == before:
            continue
        if now not in (before, wanted):
            both.append(key)
        there.pop(key, None)
        there |= {key: mine[key]} if key in mine else {}
    if both:
        raise ChangedMeanwhile(both)
    return [
        Placement(tenant=plan.tenant, plan=plan, kind=row.kind, identifier=row.identifier, x=row.x, y=row.y)
        for row in there.values()
    ]


def _at(row: Placement | None) -> At | None:
    return (row.x, row.y) if row is not None else None


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
