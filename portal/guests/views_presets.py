"""Presets of the desk: what a tenant issues again and again."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.core.intents.record import Asker
from portal.core.visits import queries
from portal.core.visits.access import get_preset
from portal.core.visits.models import Preset
from portal.guests import places, presetting
from portal.guests.places import Places
from portal.guests.presetting import PresetForm
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.GUESTS_MANAGE)
def index(request: HttpRequest) -> HttpResponse:
    known = Places()
    rows = [(preset, known.area_names(preset.area_ids), known.key_names(preset.keys)) for preset in queries.presets()]
    return render(request, "guests/presets.html", {"rows": rows})


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    return _form(request, None)


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def edit(request: HttpRequest, preset_id: int) -> HttpResponse:
    return _form(request, get_preset(preset_id))


def _form(request: HttpRequest, preset: Preset | None) -> HttpResponse:
    known = Places()
    form = PresetForm(request.POST or None, known=known, preset=preset)
    if request.method == "POST" and form.is_valid():
        saved = presetting.save(preset=preset, columns=form.columns(), by=Asker.of(request))
        messages.success(request, _("Saved: %(name)s") % {"name": saved})
        return redirect("guests:presets", request.tenant.slug)
    gone = _vanished(preset, known)
    return render(request, "guests/preset.html", {"form": form, "preset": preset, "gone": gone})


def _vanished(preset: Preset | None, known: Places) -> bool:
    """Whether the preset names places that are not there any more."""
    if preset is None:
        return False
    there = {value for _name, units in known.key_choices() for value, _word in units}
    return bool(set(preset.area_ids) - dict(known.areas).keys() or set(places.values_of(preset.keys)) - there)


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def delete(request: HttpRequest, preset_id: int) -> HttpResponse:
    preset = get_preset(preset_id)
    if request.method == "POST":
        presetting.delete(preset=preset, by=Asker.of(request))
        messages.success(request, _("Deleted: %(name)s") % {"name": preset})
        return redirect("guests:presets", request.tenant.slug)
    return render(request, "guests/preset_delete.html", {"preset": preset})


@tenant_view(Permission.GUESTS_MANAGE, methods=["POST"])
def move(request: HttpRequest, preset_id: int) -> HttpResponse:
    presetting.move(preset=get_preset(preset_id), up=request.POST.get("to") == "up")
    return redirect("guests:presets", request.tenant.slug)


@tenant_view(Permission.GUESTS_MANAGE, methods=["POST"])
def make_default(request: HttpRequest, preset_id: int) -> HttpResponse:
    presetting.make_default(preset=get_preset(preset_id), by=Asker.of(request))
    return redirect("guests:presets", request.tenant.slug)
