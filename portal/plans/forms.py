"""Forms of floor plans: name, file (a PDF is drawn by another process) and positions of devices.

The first page of a PDF is drawn in a separate process with limited memory and time. A small PDF can need gigabytes of
memory. Then only that process is killed, and the site continues.
"""

import json
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.reading import read_json
from portal.base.files import pictures
from portal.base.files.pictures import DRAWING_SIDE, CheckedPicture, PictureFault
from portal.base.ui.chips import Chip
from portal.base.ui.inputs import line_field, validate_visible
from portal.base.ui.shown_values import ConflictForm
from portal.plans import plan_devices
from portal.plans.actions import MAX_PLACED
from portal.plans.models import NAME_MAX, FloorPlan, Placed, Placement
from portal.plans.plan_devices import PlanDevice
from tenants.models import Tenant

# Limits of the process: megabytes of address space, and seconds of processor time.
MAX_MEGABYTES, MAX_SECONDS = 768, 10


class PdfNotRendered(ValueError):
    """Raised when the page cannot be drawn: the file is not a PDF, is damaged or locked, or exceeds the limits."""


def render_first_page(data: bytes) -> bytes:
    """Return the first page of a PDF as PNG, its longest side DRAWING_SIDE pixels. Raises PdfNotRendered."""
    command = [
        sys.executable,
        "-m",
        "portal.plans.drawing_process",
        *map(str, (DRAWING_SIDE, MAX_MEGABYTES, MAX_SECONDS)),
    ]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=2 * MAX_SECONDS, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        raise PdfNotRendered("the page could not be drawn") from error
    return done.stdout


_ACCEPT = {"accept": "image/png,image/jpeg,application/pdf"}
_CAMERA_MAX = 200


class DrawingForm(forms.Form):
    """The form for a plan's picture. `picture` is set once the form is valid."""

    image = forms.FileField(
        label=_("Drawing"),
        required=False,
        allow_empty_file=True,
        max_length=1000,
        widget=forms.FileInput(attrs=_ACCEPT),
        help_text=_("PNG, JPEG or PDF (first page), up to 8 MB."),
    )
    picture: CheckedPicture

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "image" in self.errors:
            return cleaned
        try:
            if not cleaned.get("image"):
                raise PictureFault(_t("Choose a file."))
            self.picture = pictures.prepare_drawing(cleaned["image"], render_first_page)
        except PictureFault as fault:
            self.add_error("image", str(fault))
        except PdfNotRendered:
            self.add_error("image", _t("This PDF cannot be read. Save the page as PNG and upload that."))
        return cleaned


class NewPlanForm(DrawingForm):
    """The form for a new plan: its name and its picture."""

    name = line_field(
        pgettext_lazy("floor plan", "Name"),
        NAME_MAX,
        _("Enter a name, for example “Ground floor”."),
        validators=[validate_visible],
    )
    field_order = ("name", "image")


class NameForm(ConflictForm, forms.Form):
    """The form for a plan's name, and for a camera to add to the plan."""

    name = line_field(
        pgettext_lazy("floor plan", "Name"),
        NAME_MAX,
        _("Enter a name, for example “Ground floor”."),
        validators=[validate_visible],
    )
    camera = line_field(
        _("Add a camera by its ID"), _CAMERA_MAX, help_text=_("Placed in the middle of the floor plan.")
    )


@dataclass
class PlacementLine:
    """A device in the form: whether it is on the plan, and its position in per cent, as entered."""

    device: PlanDevice
    is_placed: bool
    x: str
    y: str
    error: str = ""

    @property
    def position(self) -> tuple[float, float]:
        """Return the position of its mark; the middle if the input is invalid."""
        return _percent(self.x, 50.0), _percent(self.y, 50.0)


class PlacementRows:
    """The positions of devices, from the plan or from a posted form. Call `is_valid()` before `rows()`."""

    def __init__(self, tenant: Tenant, plan: FloorPlan, posted: Mapping[str, str] | None) -> None:
        self.plan = plan
        found, rows = plan_devices.load_devices(tenant), {row.key: row for row in plan_devices.placements(plan)}
        self._current = {key: (row.x, row.y) for key, row in rows.items()}
        self.previous = self._current if posted is None else _parse_previous(posted.get("was", ""), self._current)
        for row in rows.values():
            device = plan_devices.device_of(row, found)
            found[device.key] = device
        if posted is not None and (camera := posted.get("camera", "").strip()[:_CAMERA_MAX]):
            found.setdefault(f"camera:{camera}", PlanDevice(Placed.CAMERA, camera, camera, Chip("unknown")))
        self.new = f"camera:{posted.get('camera', '').strip()}" if posted is not None else ""
        self.lines = [
            self._line(place, device, rows.get(key), posted) for place, (key, device) in enumerate(found.items())
        ]
        self.lines.sort(key=lambda line: (not line.is_placed, line.device.kind != Placed.DOOR, line.device.name))

    def _line(
        self, place: int, device: PlanDevice, row: Placement | None, posted: Mapping[str, str] | None
    ) -> PlacementLine:
        if posted is None or (device.key == self.new and f"on:{device.key}" not in posted):
            at = (row.x / 10, row.y / 10) if row else (50, 50) if device.key == self.new else _default_position(place)
            return PlacementLine(device, row is not None or device.key == self.new, f"{at[0]:g}", f"{at[1]:g}")
        x, y = posted.get(f"x:{device.key}", ""), posted.get(f"y:{device.key}", "")
        return PlacementLine(device, f"on:{device.key}" in posted, x[:20], y[:20])

    def is_valid(self) -> bool:
        """Check the inputs and set an error on each invalid line."""
        for each in self.lines:
            if each.is_placed and not (0 <= _percent(each.x, -1) <= 100 and 0 <= _percent(each.y, -1) <= 100):
                each.error = _t("Enter numbers from 0 to 100.")
        return not any(each.error for each in self.lines) and not self.is_full

    @property
    def is_full(self) -> bool:
        return sum(each.is_placed for each in self.lines) > MAX_PLACED

    @property
    def previous_json(self) -> str:
        """Return the positions at the time when the form was opened, for a hidden input."""
        return json.dumps(self.previous)

    def apply_others(self, own_keys: Collection[str]) -> list[str]:
        """Show other people's changes, except for the devices with `own_keys`. Return the names of these devices."""
        for each in self.lines:
            key = each.device.key
            if key not in own_keys:
                at = self._current.get(key)
                each.is_placed = at is not None
                each.x, each.y = (f"{side / 10:g}" for side in at) if at else (each.x, each.y)
        self.previous = self._current
        return [each.device.name for each in self.lines if each.device.key in own_keys]

    def rows(self) -> list[Placement]:
        """Return the placements for the plan."""
        return [
            Placement(
                tenant=self.plan.tenant,
                plan=self.plan,
                kind=each.device.kind,
                identifier=each.device.identifier,
                x=round(_percent(each.x, 50) * 10),
                y=round(_percent(each.y, 50) * 10),
            )
            for each in self.lines
            if each.is_placed
        ]


def _parse_previous(posted: str, otherwise: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Return the positions at the time when the form was opened; `otherwise` if the input is invalid."""
    try:
        return {str(key): (int(x), int(y)) for key, (x, y) in read_json(posted.encode(errors="replace")).items()}
    except (ValueError, TypeError, AttributeError):
        return otherwise


def _default_position(place: int) -> tuple[int, int]:
    """Return the default position of a new device: in rows from the top, so that marks do not overlap."""
    return 5 + place % 10 * 10, min(6 + place // 10 * 12, 94)


def _percent(text: str, otherwise: float) -> float:
    try:
        number = float(text)
    except ValueError:
        return otherwise
    return number if 0 <= number <= 100 else otherwise
