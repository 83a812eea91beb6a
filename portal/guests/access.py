"""Visits and presets of the tenant in scope."""

from django.http import Http404

from portal.guests.models import Preset, Visit

_WITH = ("by", "preset", "cut_by", "cut_session", "cut_intent__by", "revive_intent", "intent__by")


def get_visit(guest_id: str) -> Visit:
    """The visit of a guest of the service, or 404 exactly as for another tenant's."""
    found = None if "\x00" in guest_id else Visit.objects.select_related(*_WITH).filter(guest_id=guest_id).first()
    if found is None:
        raise Http404
    return found


def get_visit_row(visit_id: int) -> Visit:
    """The visit of this number, whether the service has named its guest or not; else 404."""
    found = Visit.objects.select_related(*_WITH).filter(pk=visit_id).first() if visit_id < 2**63 else None
    if found is None:
        raise Http404
    return found


def get_preset(preset_id: int) -> Preset:
    found = Preset.objects.filter(pk=preset_id).first() if preset_id < 2**63 else None
    if found is None:
        raise Http404
    return found
