"""What a list finds: its rows narrowed by search and filters, in the asked order, counted and paged."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from django.db.models import Count, QuerySet, Window
from django.http import HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.cache import patch_vary_headers
from django.utils.functional import Promise, cached_property

from portal.core.ui import live_updates
from portal.core.ui.tables import keyset
from portal.core.ui.tables.columns import BulkAction, Column, EmptyState, ListPreferences
from portal.core.ui.tables.filters import BoundFilter, Filter, ListAddress
from tenants.access import TenantRequest, in_tenant
from tenants.compiled_queries import CompiledQuery
from tenants.roles import Permission

MAX_COUNTED = 10_000
SIZES = (25, 50, 100, 200)
_COUNT_ALONG = {"all_that_match": Window(Count("*"))}


class Listing:
    """A list with search, filters, sorting, paging, columns, selection and export.

    `queryset` must be scoped to what the person may see; the table only narrows it. A callable that gives it is called
    only where the kept SQL of a steady list does not do. `total` gives the number of rows of the whole queryset when
    somebody knows it already (a mirror does): used while nothing narrows it. Other totals are counted, up to
    `max_counted` rows and "more than" beyond.
    """

    name: ClassVar[str] = ""
    columns: Sequence[Column] = ()
    filters: Sequence[Filter] = ()
    default_sort: str = "pk"
    key: ClassVar[str] = "pk"
    row_fields: ClassVar[Sequence[str]] = ()  # the model's fields that rows are drawn from; empty for all of them
    # The rows listed, where they follow from the tenant alone: the SQL of the first page is made once then.
    cached_query: ClassVar[Callable[[], QuerySet[Any]] | None] = None
    caption: ClassVar[str | Promise] = ""
    search_label: ClassVar[str | Promise] = ""
    views: ClassVar[Sequence[str]] = ()  # other ways to see the rows, of which a person's last one is kept
    actions: Sequence[BulkAction] = ()
    exports: Sequence[str] = ()
    export_permission: ClassVar[Permission | None] = None
    # How many rows that nobody knew the number of are counted at most.
    max_counted: ClassVar[int] = MAX_COUNTED
    # A template drawn along with a list that moves, for what stands elsewhere on the page (`hx-swap-oob`).
    extra_template: ClassVar[str] = ""
    # What the list is known by while somebody watches it (`watching.mark`); empty for one that nobody watches.
    version: str = ""
    poll_pace: ClassVar[str] = "calm"  # how often such a list is looked at anew: one of `watching.SECONDS`
    registry: ClassVar[dict[str, type["Listing"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.name:
            cls.registry[cls.name] = cls

    def __init__(
        self,
        request: TenantRequest,
        queryset: QuerySet[Any] | Callable[[], QuerySet[Any]],
        *,
        total: int | Callable[[], int] | None = None,
        query: QueryDict | None = None,
    ) -> None:
        self.request = request
        self._given = queryset
        self.known_total = total
        self.address = ListAddress(request.path, query if query is not None else request.GET)
        self.dom_id = f"{self.name}-list"

    def complete_columns(self, **parts: dict[str, Any]) -> None:
        """Give the columns of these names what only an object of this request can draw them by."""
        self.columns = [replace(each, **parts.get(each.name, {})) for each in self.columns]

    # What a list may override

    @property
    def empty(self) -> EmptyState | None:
        """What the list says while it is empty."""
        return None

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        """Narrow to what matches `search_text`. Required when `search_label` is set."""
        raise NotImplementedError

    def row_href(self, row: Any) -> str:
        """The page of a row: opened by its title, Enter and a click. Empty for none."""
        return ""

    def row_id(self, row: Any) -> str:
        """What a selected row is called in forms."""
        return str(row.pk)

    def row_class(self, row: Any) -> str:
        """Classes of a row: `quiet` for what matters less, `loud` for what needs attention."""
        return ""

    @property
    def file_note(self) -> str:
        """What whoever reads the list as a file has to know about it, as its last line; empty for nothing."""
        return ""

    def allowed_actions(self) -> list[BulkAction]:
        """The bulk actions that this person may take."""
        return [action for action in self.actions if self.may(action.permission)]

    def may(self, permission: Permission | None) -> bool:
        return permission is None or (in_tenant(self.request) and self.request.access.can(permission))

    # What was asked

    @cached_property
    def all_rows(self) -> QuerySet[Any]:
        """All rows, before anything narrows them."""
        return self._given() if callable(self._given) else self._given

    @cached_property
    def search_text(self) -> str:
        return self.address.get("q").strip() if self.search_label else ""

    @cached_property
    def bound_filters(self) -> list[BoundFilter]:
        return [BoundFilter(each, self.request, self.address.get_all(each.name)) for each in self.filters]

    @cached_property
    def order(self) -> keyset.SortOrder:
        asked = self.address.get("sort") or self.default_sort
        field, falling = asked.removeprefix("-"), asked.startswith("-")
        if field not in {column.sort for column in self.columns if column.sort}:
            field, falling = self.default_sort.removeprefix("-"), self.default_sort.startswith("-")
        return keyset.SortOrder(field, falling, self.key)

    @cached_property
    def is_narrowed(self) -> bool:
        return bool(self.search_text) or self.is_filtered

    @cached_property
    def is_filtered(self) -> bool:
        return any(any(self.address.get_all(each.name)) for each in self.filters)

    @cached_property
    def matching_rows(self) -> QuerySet[Any]:
        """All rows that search and filters leave, in no order."""
        queryset = self.search(self.all_rows, self.search_text) if self.search_text else self.all_rows
        for each in self.bound_filters:
            queryset = each.narrow(queryset)
        return queryset

    @property
    def page_rows(self) -> QuerySet[Any]:
        """The same for a page: with the fields alone that its rows are drawn from."""
        rows = self.matching_rows
        if self.is_counted_with_page:
            rows = rows.annotate(**_COUNT_ALONG)
        return self.with_row_fields(rows, self.order)

    @cached_property
    def is_counted_with_page(self) -> bool:
        """Whether the page itself tells how many match: what a text finds has all to be found, to be sorted."""
        query = self.matching_rows.query
        plain = (
            not query.combinator and not query.distinct and not keyset.is_nullable(self.matching_rows, self.order.field)
        )
        return bool(self.search_text) and self.is_first_page and plain

    @property
    def is_first_page(self) -> bool:
        """Whether the list is looked at from its beginning."""
        return not (self.address.get("after") or self.address.get("before"))

    @classmethod
    def with_row_fields(cls, rows: QuerySet[Any], order: keyset.SortOrder) -> QuerySet[Any]:
        """The same rows as tuples of what they are drawn from: instances take many times as long."""
        if not cls.row_fields:
            return rows
        names = dict.fromkeys([cls.key, *cls.row_fields, order.field, *rows.query.annotation_select])
        return rows.values_list(*names, named=True)

    @property
    def rows_to_count(self) -> QuerySet[Any]:
        """The same to be counted, where that is asked for in another way."""
        return self.matching_rows

    @cached_property
    def ordered_rows(self) -> QuerySet[Any]:
        """All matching rows in the asked order: for files and jobs, not for pages."""
        sign = "-" if self.order.is_descending else ""
        return self.matching_rows.order_by(*dict.fromkeys([f"{sign}{self.order.field}", f"{sign}{self.key}"]))

    # What a person keeps

    @cached_property
    def preferences(self) -> ListPreferences:
        return ListPreferences.load(self.request, self.name)

    @cached_property
    def size(self) -> int:
        asked = self.address.get("size")
        kept = self.preferences.size if self.preferences.size in SIZES else 50
        return int(asked) if asked in {str(size) for size in SIZES} else kept

    @cached_property
    def shown_columns(self) -> list[Column]:
        if not self.preferences.columns:
            return [column for column in self.columns if column.shown or column.fixed]
        return [column for column in self.columns if column.fixed or column.name in self.preferences.columns]

    # What is found

    @cached_property
    def total(self) -> int:
        """How many rows match; at most `max_counted` + 1 when nobody knew the number."""
        if not self.is_narrowed and self.known_total is not None:
            return self.known_total() if callable(self.known_total) else self.known_total
        if self.is_first_page:
            self.page = self.complete_page(
                self.cached_first_page or keyset.load_page(self.page_rows, self.order, self.size)
            )
            if self.page.next is None:  # a first page that is the last one counts itself
                return len(self.page.rows)
            if hasattr(self.page.rows[0], "all_that_match"):
                return min(int(self.page.rows[0].all_that_match), self.max_counted + 1)
        rows = self.rows_to_count.order_by()
        if rows.query.group_by is None and not rows.query.combinator and not rows.query.distinct:
            rows = rows.values(self.key)  # what is noted of the rows need not be worked out
        return rows[: self.max_counted + 1].count()

    @property
    def is_more_than_counted(self) -> bool:
        return self.total == self.max_counted + 1 and (self.is_narrowed or self.known_total is None)

    @cached_property
    def page(self) -> keyset.ListPage:
        total = 0 if self.is_more_than_counted else self.total
        if "page" in self.__dict__:  # counting read it
            return self.page
        found = self.cached_first_page or keyset.load_page(
            self.page_rows,
            self.order,
            self.size,
            after=self.address.get("after"),
            before=self.address.get("before"),
            total=total,
        )
        return self.complete_page(found)

    def complete_page(self, page: keyset.ListPage) -> keyset.ListPage:
        """Return the page with all that its rows are drawn from, where the list finds them by less."""
        return page

    @cached_property
    def cached_first_page(self) -> keyset.ListPage | None:
        """The first page of a steady list, or of what a text finds in one: its SQL is kept. None for any other page."""
        kept = type(self).cached_query is not None and self.is_first_page and not self.is_filtered
        asked = self.search_pieces if kept else None
        if asked is None or not self._has_all_values(self.order.field):
            return None
        found = self._first_page_query(self.order, self.size, asked.are_long, tuple(asked.values)).rows(**asked.values)
        return keyset.first_page(found, self.order, self.size)

    @property
    def search_pieces(self) -> Any:
        """What the rows of a steady list follow from besides the tenant, as `are_long` and `values` of
        `mirror.search.Needles`, of which a list without a text has none; None where they follow from more.
        """
        return None

    @classmethod
    def filter_by_pieces(cls, rows: QuerySet[Any], are_long: Any, values: dict[str, str]) -> QuerySet[Any]:
        """Of steady rows those that such needles find."""
        raise NotImplementedError

    @classmethod
    @lru_cache(maxsize=500)
    def _has_all_values(cls, field: str) -> bool:
        """Return whether every row of a steady list has a value to sort by."""
        return cls.cached_query is not None and not keyset.is_nullable(cls.cached_query(), field)

    @classmethod
    @lru_cache(maxsize=500)
    def _first_page_query(
        cls, order: keyset.SortOrder, size: int, long: tuple[bool, ...], names: tuple[str, ...]
    ) -> CompiledQuery[Any]:
        """Return the kept SQL of the first page of a steady list, or of what needles of these names find in it."""

        def build(**values: str) -> QuerySet[Any]:
            rows: Any = cls.cached_query
            found = cls.filter_by_pieces(rows(), long, values).annotate(**_COUNT_ALONG) if long else rows()
            return keyset.first_page_rows(cls.with_row_fields(found, order), order, size)

        return CompiledQuery(build, plan_each_time=True, **dict.fromkeys(names, ""))

    # Answers

    def respond(self, template: str, context: dict[str, Any] | None = None) -> HttpResponse:
        """The page `template` with `table` in its context, or the list alone when htmx swaps just that."""
        htmx = getattr(self.request, "htmx", None)
        if htmx and htmx.target == self.dom_id and not htmx.history_restore_request:
            if self.version and live_updates.is_up_to_date(self.request, self.version):
                return live_updates.unchanged_response()
            response: HttpResponse = HttpResponse(
                render_to_string("components/table.html#region", {"table": self}, request=self.request)
                + (
                    render_to_string(self.extra_template, {"table": self, "late": True}, request=self.request)
                    if self.extra_template
                    else ""
                )
            )
        else:
            response = TemplateResponse(self.request, template, {**(context or {}), "table": self})
        patch_vary_headers(response, ["HX-Request", "HX-Target"])
        return response
