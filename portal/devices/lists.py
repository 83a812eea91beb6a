"""The list of doors. Doors that need attention are highlighted."""

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.value_words import add_side, join_values
from portal.devices import queries
from portal.domain.places.models import PassController
from portal.domain.places.queries import areas_by_door


class DoorList(Table):
    name = "doors"
    caption = _("Doors")
    search_label = _("Find a door")
    default_sort = "urgency"
    views = ("board", "list")
    poll_pace = "state"
    columns = (
        Column("name", _("Door"), value=str, sort="name_order", phone="title", fixed=True),
        Column("state", _("State"), sort="urgency"),
        Column("areas", _("Area")),
        Column("door", _("Door leaf")),
        Column("power", _("Power"), phone="hide"),
        Column("line", _("Network"), phone="hide"),
        Column("errors", _("Errors")),
        Column("device_id", _("Device ID"), value="device_id", kind="mono", phone="hide", shown=False),
    )

    @property
    def empty(self) -> EmptyState | None:
        return queries.empty_state(self.request)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = queries.version_of_doors()
        self.places = areas_by_door()
        states = self.request.tenant.environment.catalogue.states
        words_of = partial(queries.words_of, states=states)
        self.complete_columns(
            state={"value": partial(queries.state_of, states=states)},
            areas={"value": self.areas_text},
            door={"value": lambda row: words_of(row).leaf},
            power={"value": lambda row: words_of(row).power},
            line={"value": lambda row: words_of(row).line},
            errors={"value": lambda row: join_values(words_of(row).errors)},
        )

    def areas_text(self, row: PassController) -> str:
        places = self.places.get(row.device_id, ())
        return join_values(add_side(place.name, place.side) for place in places)

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(device_name__icontains=text)

    def row_href(self, row: PassController) -> str:
        return reverse("devices:door", args=[self.request.tenant.slug, row.device_id])

    def row_class(self, row: PassController) -> str:
        return "loud" if row.attention else ""
