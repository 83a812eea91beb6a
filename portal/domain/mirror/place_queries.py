"""Queries for areas, doors, key boxes and the service's record of the tenant."""

from django.db.models import QuerySet

from accessapi.permissions import Holidays
from accessapi.resources.tenants import HolidaySettings
from portal.base.ui.url_lookup import RowLookup
from portal.domain.mirror.models import Area, KeyBox, PassController, TenantRecord
from tenants.models import current_tenant

# Look-ups for the identifiers in URLs.
_areas = RowLookup(Area.objects.all, area_id="")
_doors = RowLookup(PassController.objects.all, device_id="")


def areas() -> QuerySet[Area]:
    return Area.objects.order_by("name_order", "pk")


def key_boxes() -> QuerySet[KeyBox]:
    return KeyBox.objects.order_by("name_order", "pk")


def load_tenant_record() -> TenantRecord | None:
    """Return the service's record of the entered tenant; None before the first reading."""
    return TenantRecord.objects.first()


def load_holidays() -> Holidays:
    """Return the entered tenant's holidays as of `load_tenant_record().read_at`; none before the first reading."""
    record = load_tenant_record()
    rules = current_tenant().environment.catalogue.rules
    settings = HolidaySettings.model_validate(record.holiday) if record else None
    return Holidays.from_settings(settings, weekdays_apply=rules.weekdays_on_holidays)


def get_area(area_id: str) -> Area:
    return _areas.get_or_404(area_id=area_id)


def get_door(device_id: str) -> PassController:
    return _doors.get_or_404(device_id=device_id)
