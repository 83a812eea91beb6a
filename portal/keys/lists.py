"""The table of keys. Discrepancies come first, then keys that are out."""

from typing import Any

from django.db.models import Q, QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.tables.filters import Filter
from portal.base.ui.tables.keyset import ListPage
from portal.domain.alerts.overdue_keys import FAULTY
from portal.domain.events import MirrorKind
from portal.domain.places.models import Key, KeyBox, KeyState
from portal.domain.sync import freshness
from portal.keys import queries
from portal.keys.queries import KeySummary
from tenants.access import TenantRequest

_STATES = (
    ("out", pgettext_lazy("key", "Out")),
    ("overdue", pgettext_lazy("key", "Overdue")),
    ("unknown", gettext_lazy("Unknown")),
    ("differs", pgettext_lazy("key", "Discrepancy")),
    ("faulty", pgettext_lazy("key", "Faulty")),
    ("in", pgettext_lazy("key", "In the box")),
)


def _by_state(rows: QuerySet[Key], values: list[str]) -> QuerySet[Key]:
    condition = Q(pk=None)
    for value in values:
        condition |= {
            "out": Q(shown=KeyState.OUT),
            "overdue": Q(late=True),
            "unknown": Q(shown=KeyState.UNKNOWN),
            "differs": Q(odd=True),
            "faulty": FAULTY,
            "in": Q(shown=KeyState.IN),
        }[value]
    return rows.filter(condition)


class Keys(Table):
    name = "keys"
    extra_template = "keys/house.html"
    poll_pace = "state"
    caption = gettext_lazy("Keys")
    search_label = gettext_lazy("Find a key by number, name or key box")
    default_sort = "urgency"
    columns = (
        Column("key", pgettext_lazy("box", "Key"), value=str, sort="number_order", phone="title", fixed=True),
        Column("box", gettext_lazy("Key box"), value=lambda row: str(row.key_box), sort="key_box__name_order"),
        Column("state", gettext_lazy("State"), sort="urgency"),
        Column("holder", pgettext_lazy("key", "With")),
        Column("taken", pgettext_lazy("key", "Taken"), kind="time"),
        Column("returned", pgettext_lazy("key", "Returned"), kind="time", phone="hide"),
    )
    filters = (
        Filter("state", gettext_lazy("State"), _STATES, _by_state),
        Filter(
            "box",
            gettext_lazy("Key box"),
            lambda request: [(box.key_device_id, str(box)) for box in KeyBox.objects.order_by("name_order", "pk")],
            lambda rows, values: rows.filter(key_box__key_device_id__in=values),
        ),
    )

    def __init__(self, request: TenantRequest, house: KeySummary, **more: Any) -> None:
        super().__init__(request, queries.visible_keys(request), **more)
        self.version, self.house = house.version, house

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(_("No key boxes yet"), _("The vendor sets up key boxes."), "key")
        if self.house.boxes:
            usual = EmptyState(_("No keys listed"), _("The service lists no key for these key boxes."), "key")
        return freshness.empty_state(self.request, usual, MirrorKind.KEY_BOXES)

    def complete_page(self, page: ListPage) -> ListPage:
        found = {each.key.pk: each for each in queries.describe_keys(self.request, page.rows)}
        self.complete_columns(
            state={"value": lambda row: found[row.pk].chip},
            holder={"cell": lambda row: _holder(found[row.pk]), "value": lambda row: found[row.pk].holder},
            taken={"value": lambda row: found[row.pk].since_in(KeyState.OUT)},
            returned={"value": lambda row: found[row.pk].since_in(KeyState.IN)},
        )
        self.found = found
        return page

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        box = Q(key_box__key_device_name__icontains=text)
        return queryset.filter(Q(unit_no=text) | Q(unit_name__icontains=text) | box)

    def row_href(self, row: Key) -> str:
        return self.found[row.pk].href

    def row_class(self, row: Key) -> str:
        return "loud" if self.found[row.pk].tone in ("alarm", "loud") else ""


def _holder(row: queries.ShownKey) -> SafeString | str:
    if row.holder and row.holder_url:
        return format_html('<a href="{}">{}</a>', row.holder_url, row.holder)
    return row.holder or ("" if row.state != KeyState.OUT else pgettext("key", "Unknown"))
