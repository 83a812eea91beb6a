"""Small parts of a list: headers, bulk actions, the empty state, and what a person keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from portal.core.ui import together
from portal.core.ui.tables.columns import Column
from portal.core.ui.tables.keyset import Order
from portal.core.ui.tables.links import Address

Text = str | Promise


@dataclass(frozen=True, slots=True)
class BulkAction:
    """Something to do with many rows: a button that posts the selection to `url(request)`.

    The view there calls `selection.chosen(request, Members, queryset)` and, as a rule, shows a page that asks first.
    """

    name: str
    label: Text
    url: Callable[[Any], str]
    icon: str = ""
    permission: Any = None
    danger: bool = False


@dataclass(frozen=True, slots=True)
class DrawnAction:
    """A bulk action with its address in this request's tenant."""

    action: BulkAction
    href: str


@dataclass(frozen=True, slots=True)
class Empty:
    """What a list says while it is empty, and the next step."""

    title: Text
    text: Text = ""
    icon: str = "inbox"
    action: Text = ""
    url: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """A column's header: where a click sorts to, and how it is sorted now."""

    column: Column
    href: str
    aria: str

    @classmethod
    def of(cls, column: Column, order: Order, address: Address) -> "Header":
        if not column.sort:
            return cls(column, "", "")
        mine = column.sort == order.field
        aria = ("descending" if order.descending else "ascending") if mine else "none"
        wanted = f"-{column.sort}" if mine and not order.descending else column.sort
        return cls(column, address.with_(sort=wanted), aria)


@dataclass(frozen=True, slots=True)
class Wish:
    """A person's choice of columns and page size for one list; empty for the list's own."""

    columns: frozenset[str] = frozenset()
    size: int = 0

    @classmethod
    def of(cls, request: Any, table: str) -> "Wish":
        from portal.core.ui.models import ListChoice  # a model cannot be imported while apps load

        if not getattr(request.user, "is_authenticated", False):
            return cls()
        if getattr(request, "tenant", None) is not None:
            found = [each for each in together.told(request, "choices") if each.table == table]
        else:
            found = list(ListChoice.objects.filter(user=request.user, table=table))
        return cls(frozenset(found[0].columns), found[0].size) if found else cls()
