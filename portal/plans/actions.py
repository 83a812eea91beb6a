"""Actions of staff on floor plans. Plans exist only in the portal, not in the service."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from portal.base.files.pictures import CheckedPicture, mark_of
from portal.domain.intents.recording import Requester
from portal.plans.models import FloorPlan, Placement
from tenants import audit
from tenants.models import Tenant
from tenants.sentences import coded_sentence

# How many plans a tenant may have, and how many devices a plan may show.
MAX_PLANS, MAX_PLACED = 60, 500
Position = tuple[int, int]  # thousandths of the picture's width and height


class PlanNotSaved(ValueError):
    """Raised when the plan is not saved; the text says why."""


class PlacementConflict(Exception):
    """Raised when another person has changed the same devices on the plan. `keys` names these devices."""

    def __init__(self, keys: Iterable[str]) -> None:
        super().__init__()
        self.keys = frozenset(keys)


def add(*, name: str, picture: CheckedPicture, by: Requester) -> FloorPlan:
    """Create a plan with a unique name. Raises PlanNotSaved."""
    with transaction.atomic():
        names = _names(by.tenant)
        if len(names) >= MAX_PLANS:
            raise PlanNotSaved(
                _("Nothing was added. The limit is %(n)d floor plans. Delete one you no longer need.")
                % {"n": MAX_PLANS}
            )
        _check_name(name, names)
        plan = FloorPlan.objects.create(name=name, by=by.user, **_picture_values(picture))
        _audit(plan, by, "plan.added", after={"width": plan.width, "height": plan.height})
    return plan


def replace(*, plan: FloorPlan, picture: CheckedPicture, by: Requester) -> None:
    """Replace a plan's picture. Devices stay where they are."""
    before, drawn = {"width": plan.width, "height": plan.height}, _picture_values(picture)
    for name, value in drawn.items():
        setattr(plan, name, value)
    with transaction.atomic():
        plan.save(update_fields=list(drawn))
        after = {"width": plan.width, "height": plan.height}
        _audit(plan, by, "plan.replaced", before=before, after=after)


def edit(
    *, plan: FloorPlan, name: str, placed: Iterable[Placement], previous: Mapping[str, Position], by: Requester
) -> None:
    """Rename a plan and place devices on it. A device whose position is the `previous` one of the form is not changed.

    Raises PlanNotSaved, and PlacementConflict if another person has placed the same device elsewhere.
    """
    with transaction.atomic():
        names = _names(by.tenant)
        if name != plan.name:
            _check_name(name, names)
        before = {"name": plan.name, "placed": Placement.objects.filter(plan=plan).count()}
        rows = _merge(plan, {row.key: row for row in placed}, previous)
        Placement.objects.filter(plan=plan).delete()
        Placement.objects.bulk_create(rows)
        plan.name = name
        plan.save(update_fields=["name"])
        _audit(plan, by, "plan.edited", before=before, after={"name": name, "placed": len(rows)})


def _merge(plan: FloorPlan, placed: Mapping[str, Placement], previous: Mapping[str, Position]) -> list[Placement]:
    """Return the new placements: the changes of the form, applied to the present placements."""
    stored = {row.key: row for row in Placement.objects.filter(plan=plan)}
    both = []
    for key in {*stored, *placed, *previous}:
        edited, now, before = _position(placed.get(key)), _position(stored.get(key)), previous.get(key)
        if edited == before:
            continue
        if now not in (before, edited):
            both.append(key)
        stored.pop(key, None)
        stored |= {key: placed[key]} if key in placed else {}
    if both:
        raise PlacementConflict(both)
    return [
        Placement(tenant=plan.tenant, plan=plan, kind=row.kind, identifier=row.identifier, x=row.x, y=row.y)
        for row in stored.values()
    ]


def _position(row: Placement | None) -> Position | None:
    return (row.x, row.y) if row is not None else None


def delete(*, plan: FloorPlan, by: Requester) -> None:
    """Delete a plan and its placements."""
    with transaction.atomic():
        _audit(plan, by, "plan.deleted")
        plan.delete()


def _names(tenant: Tenant) -> set[str]:
    """Return the names of the tenant's plans, and block other changes of plans until the transaction ends."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    return set(FloorPlan.objects.values_list("name", flat=True))


def _check_name(name: str, names: set[str]) -> None:
    if name in names:
        raise PlanNotSaved(_("Another floor plan has this name. Enter a different name."))


def _picture_values(picture: CheckedPicture) -> dict[str, Any]:
    size = {"width": picture.width, "height": picture.height}
    return {"content": picture.content, "mark": mark_of(picture.content), **size}


def _audit(plan: FloorPlan, by: Requester, action: str, **changes: Any) -> None:
    audit.record(
        **by.audit_author,
        action=action,
        target=f"plan:{plan.pk}",
        summary=coded_sentence(action, name=plan.name),
        **changes,
    )
