"""Load the data for the intercom pages: its cameras, their doors, and the guests expected about now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from portal.base.ui.chips import Chip
from portal.base.ui.url_lookup import get_row_or_404
from portal.devices.queries import latest_commands, state_of
from portal.domain.cameras.models import Camera
from portal.domain.cameras.tiles import latest_pictures
from portal.domain.intents.models import Intent
from portal.domain.mirror.models import PassController
from portal.domain.visits.models import Visit
from portal.domain.visits.visit_status import VisitStatus, with_status
from tenants.models import Tenant

# How early guests are shown, and how many guests and commands are shown.
_EARLY_BY, _MAX_EXPECTED, _MAX_COMMANDS = timedelta(minutes=60), 12, 3


@dataclass(frozen=True)
class IntercomDoor:
    """A door beside the picture: its state, and its latest commands."""

    door: PassController
    state: Chip
    intents: list[Intent]


def intercom_cameras() -> QuerySet[Camera]:
    """Return the intercom's cameras by name, with the data for their tiles."""
    return Camera.objects.filter(is_intercom=True).order_by("name_order", "pk").prefetch_related(latest_pictures())


def camera_or_404(camera_id: str) -> Camera:
    """Return an intercom's camera. Raises Http404 for other cameras."""
    return get_row_or_404(intercom_cameras(), camera_id=camera_id)


def doors_of(tenant: Tenant, camera: Camera) -> list[IntercomDoor]:
    """Return the doors in a camera's view, by name."""
    states = tenant.environment.catalogue.states
    found = PassController.objects.filter(device_id__in=camera.doors).order_by("name_order", "pk")
    return [IntercomDoor(each, state_of(each, states), latest_commands(each)[:_MAX_COMMANDS]) for each in found]


def door_or_404(camera: Camera, device_id: str) -> PassController:
    """Return a door in the view of an intercom's camera. Raises Http404 for other doors."""
    return get_row_or_404(PassController.objects.filter(device_id__in=camera.doors), device_id=device_id)


def expected_visits(now: datetime) -> Sequence[Visit]:
    """Return guests who are expected about now, the latest start first."""
    about = Visit.objects.filter(use_date_start__lte=now + _EARLY_BY, use_date_end__gte=now)
    found = with_status(about, now).filter(standing=VisitStatus.EXPECTED)
    return list(found.order_by("-use_date_start", "guest_name", "pk")[:_MAX_EXPECTED])
