"""The columns of an exported log, in the active language."""

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.times import local
from portal.base.ui.value_words import service_word
from portal.domain.log.filters import status_word
from portal.domain.mirror.fields.values import as_json
from portal.domain.mirror.models import History
from tenants.models import current_tenant


def column_headings() -> list[str]:
    return [
        pgettext("log", "Time"),
        pgettext("log", "Event"),
        pgettext("log", "Category"),
        _("Category (service)"),
        _("Status"),
        _("Status (service)"),
        pgettext("log", "Person"),
        _("Person ID"),
        _("Person type"),
        pgettext("log", "Label"),
        _("Attribute"),
        _("Door or key box"),
        _("Device ID"),
        _("Module"),
        _("Keys"),
        _("Details not loaded"),
        pgettext("log", "Record ID"),
        _("Other data"),
    ]


def cells_of(record: History) -> list[str]:
    """Return the cells of a record: translated words, and next to them the service's own words."""
    units = (f"{unit.get('unit_no', '')} {unit.get('unit_name', '')}".strip() for unit in record.units)
    return [
        f"{local(record.at):%Y-%m-%d %H:%M:%S}",
        record.content,
        service_word("category", record.category),
        record.category,
        status_word(record.status, current_tenant().environment.catalogue.states),
        record.status,
        record.member_name,
        record.member_id,
        record.member_type,
        record.member_label,
        record.member_attribute,
        record.device_name,
        record.device_id,
        record.device_module,
        ", ".join(filter(None, units)),
        _("Yes") if record.notified else "",
        record.history_id,
        as_json(record.extra) if record.extra else "",
    ]
