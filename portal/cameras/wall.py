"""The page of all cameras: the latest picture of each, by area, and a line about missing pictures."""

from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui.tables import EmptyState
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.value_words import join_values
from portal.domain.cameras import refreshing
from portal.domain.cameras.models import Camera
from portal.domain.cameras.tiles import Tile, latest_pictures, tile_of, version_of
from portal.domain.mirror.models import Area
from tenants.access import TenantRequest
from tenants.roles import Permission


class CameraWall:
    """The cameras of the request's tenant, filtered by the address."""

    def __init__(self, request: TenantRequest) -> None:
        self.request = request
        self.address = ListAddress(request.path, request.GET)

    @cached_property
    def cameras(self) -> list[Camera]:
        return list(Camera.objects.order_by("name_order", "pk").prefetch_related(latest_pictures()))

    @cached_property
    def shown(self) -> list[Camera]:
        area = self.address.get("area")
        return [camera for camera in self.cameras if not area or area in camera.areas]

    @cached_property
    def tiles(self) -> list[Tile]:
        return [tile_of(self.request, camera) for camera in self.shown]

    @property
    def version(self) -> str:
        return version_of(self.tiles)

    @property
    def headline(self) -> str:
        n = len(self.shown)
        return ngettext("%(n)d camera", "%(n)d cameras", n) % {"n": n}

    @property
    def missing_text(self) -> str:
        """Return how many cameras have no current picture, by cause; empty if all have one."""
        offline = sum(tile.tone == "hatched" for tile in self.tiles)
        without = sum(not tile.picture_url and tile.tone != "hatched" for tile in self.tiles)
        old = sum(bool(tile.picture_url) and tile.is_old and tile.tone != "hatched" for tile in self.tiles)
        said = (
            (offline, ngettext("%(n)d offline", "%(n)d offline", offline)),
            (without, ngettext("%(n)d without a picture", "%(n)d without a picture", without)),
            (old, ngettext("%(n)d older than 15 minutes", "%(n)d older than 15 minutes", old)),
        )
        return join_values(words % {"n": n} for n, words in said if n)

    @property
    def area_links(self) -> list[tuple[str, str, bool]]:
        """Return (name, address, whether selected) for all cameras and for each area with cameras."""
        there = {area_id for camera in self.cameras for area_id in camera.areas}
        named = Area.objects.filter(area_id__in=there).order_by("name_order", "pk").values_list("area_id", "area_name")
        asked = self.address.get("area") or ""
        choices = [("", _("All areas")), *named]
        links = [(name, self.address.with_(area=area_id or None), area_id == asked) for area_id, name in choices]
        return links if len(links) > 1 else []

    @property
    def empty(self) -> EmptyState | None:
        """Return why no camera is shown; None if there are some."""
        if self.shown:
            return None
        if self.cameras:
            return EmptyState(_("No cameras in this area"), _("Choose another area above."), "video")
        if self.request.access.can(Permission.CAMERAS_MANAGE):
            return EmptyState(
                _("No cameras yet"), _("The service does not list cameras. Add them by their IDs."), "video"
            )
        return EmptyState(_("No cameras yet"), _("A facility manager adds cameras by their IDs."), "video")

    def record_view(self) -> None:
        """Record that the shown cameras are being viewed."""
        refreshing.mark_in_sight(self.shown)
