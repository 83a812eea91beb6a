"""Visits and presets of the tenant in scope, or 404 exactly as for another tenant's."""

from portal.core.ui.addresses import row_or_404
from portal.core.visits.models import Preset, Visit

_WITH = ("by", "preset", "cut_by", "cut_session", "cut_intent__by", "revive_intent", "intent__by")


def get_visit(guest_id: str) -> Visit:
    """Return the visit of a guest of the service."""
    return row_or_404(Visit.objects.select_related(*_WITH), guest_id=guest_id)


def get_visit_row(visit_id: int) -> Visit:
    """Return the visit of this number, whether the service has named its guest or not."""
    return row_or_404(Visit.objects.select_related(*_WITH), pk=visit_id)


def get_preset(preset_id: int) -> Preset:
    return row_or_404(Preset.objects.all(), pk=preset_id)
