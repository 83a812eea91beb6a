"""The rows of a list: narrowed by search and filters, sorted, counted and paged."""

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

from portal.base.ui import live_updates
from portal.base.ui.tables import keyset
from portal.base.ui.tables.columns import BulkAction, Column, EmptyState, ListPreferences
from portal.base.ui.tables.filters import BoundFilter, Filter, ListAddress
from tenants.access import TenantRequest, in_tenant
from tenants.postgresql.compiled_queries import CompiledQuery
from tenants.roles import Permission

MAX_COUNTED = 10_000
SIZES = (25, 50, 100, 200)
_COUNT_ALONG = {"all_that_match": Window(Count("*"))}


class Listing:
    """A list with search, filters, sorting, paging, columns, selection and export.

    `queryset` must be limited to what the person may see; the table only narrows it. If it is a function, it is called
    only when the cached SQL of a fixed list cannot be used. `total` is the number of all rows, if it is known (as for a
    mirror); it is used while the list is not narrowed. Other totals are counted, up to `max_counted` rows and "more
    than" beyond.
    """

    name: ClassVar[str] = ""
    columns: Sequence[Column] = ()
    filters: Sequence[Filter] = ()
    default_sort: str = "pk"
    key: ClassVar[str] = "pk"
    row_fields: ClassVar[Sequence[str]] = ()  # the model fields that rows need; empty for all
    # The list's rows, if they depend on the tenant alone: the SQL of the first page is then built once.
    cached_query: ClassVar[Callable[[], QuerySet[Any]] | None] = None
    caption: ClassVar[str | Promise] = ""
    search_label: ClassVar[str | Promise] = ""
    views: ClassVar[Sequence[str]] = ()  # other views of the rows; a person's last one is saved
    actions: Sequence[BulkAction] = ()
    exports: Sequence[str] = ()
    export_permission: ClassVar[Permission | None] = None
    # The highest number that is counted if the total is not known.
    max_counted: ClassVar[int] = MAX_COUNTED
    # A template drawn with a list that updates, for parts elsewhere on the page (`hx-swap-oob`).
    extra_template: ClassVar[str] = ""
    # Templates before and after the menus of filters, in the same line.
    first_filter: ClassVar[str] = ""
    more_tools: ClassVar[str] = ""
    # The version of a list that updates (`live_updates.version_of`); empty for one that does not.
    version: str = ""
    poll_pace: ClassVar[str] = "normal"  # how often such a list updates: a key of `live_updates.INTERVALS`
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
        """Set parts of the named columns that only an object of this request knows."""
        self.columns = [replace(each, **parts.get(each.name, {})) for each in self.columns]

    # To be overridden by a list

    @property
    def empty(self) -> EmptyState | None:
        """Return what the list shows while it is empty."""
        return None

    @property
    def search_hint(self) -> str:
        """Return a hint for a search without results."""
        return ""

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        """Narrow to rows that match `search_text`. Required when `search_label` is set."""
        raise NotImplementedError

    def row_href(self, row: Any) -> str:
        """Return the URL of a row's page, opened by its title, Enter and a click; "" for none."""
        return ""

    def row_id(self, row: Any) -> str:
        """Return the ID of a row in the forms of bulk actions."""
        return str(row.pk)

    def row_class(self, row: Any) -> str:
        """Return the classes of a row: `quiet` for less important rows, `loud` for rows that need attention."""
        return ""

    @property
    def file_note(self) -> str:
        """Return a note for readers of the list as a file, below its rows; "" for none."""
        return ""

    def allowed_actions(self) -> list[BulkAction]:
        """Return the bulk actions that this person may use."""
        return [action for action in self.actions if self.may(action.permission)]

    def may(self, permission: Permission | None) -> bool:
        return permission is None or (in_tenant(self.request) and self.request.access.can(permission))

    # The request's query

    @cached_property
    def all_rows(self) -> QuerySet[Any]:
        """Return all rows, before search and filters."""
        return self._given() if callable(self._given) else self._given

    @cached_property
    def search_text(self) -> str:
        return self.address.get("q").strip() if self.search_label else ""

    @cached_property
    def bound_filters(self) -> list[BoundFilter]:
        return [BoundFilter(each, self.request, self.address.get_all(each.name)) for each in self.filters]

    @cached_property
    def order(self) -> keyset.SortOrder:
        requested = self.address.get("sort") or self.default_sort
        field, falling = requested.removeprefix("-"), requested.startswith("-")
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
        """Return all rows that match search and filters, in no order."""
        queryset = self.search(self.all_rows, self.search_text) if self.search_text else self.all_rows
        for each in self.bound_filters:
            queryset = each.narrow(queryset)
        return queryset

    @property
    def page_rows(self) -> QuerySet[Any]:
        """Return the matching rows for a page, with only the fields that rows need."""
        rows = self.matching_rows
        if self.is_counted_with_page:
            rows = rows.annotate(**_COUNT_ALONG)
        return self.with_row_fields(rows, self.order)

    @cached_property
    def is_counted_with_page(self) -> bool:
        """Return whether the page's query also counts the matches.

        A text search must find all matches anyway in order to sort them.
        """
        query = self.matching_rows.query
        plain = (
            not query.combinator and not query.distinct and not keyset.is_nullable(self.matching_rows, self.order.field)
        )
        return bool(self.search_text) and self.is_first_page and plain

    @property
    def is_first_page(self) -> bool:
        """Return whether this is the first page."""
        return not (self.address.get("after") or self.address.get("before"))

    @classmethod
    def with_row_fields(cls, rows: QuerySet[Any], order: keyset.SortOrder) -> QuerySet[Any]:
        """Return the rows as tuples of the needed fields: instances take many times as long."""
        if not cls.row_fields:
            return rows
        names = dict.fromkeys([cls.key, *cls.row_fields, order.field, *rows.query.annotation_select])
        return rows.values_list(*names, named=True)

    @property
    def rows_to_count(self) -> QuerySet[Any]:
        """Return the matching rows for counting; a list may override it with a faster query."""
        return self.matching_rows

    @cached_property
    def ordered_rows(self) -> QuerySet[Any]:
        """Return all matching rows in the chosen order: for files and jobs, not for pages."""
        sign = "-" if self.order.is_descending else ""
        return self.matching_rows.order_by(*dict.fromkeys([f"{sign}{self.order.field}", f"{sign}{self.key}"]))

    # A person's preferences

    @cached_property
    def preferences(self) -> ListPreferences:
        return ListPreferences.load(self.request, self.name)

    @cached_property
    def size(self) -> int:
        requested = self.address.get("size")
        preferred = self.preferences.size if self.preferences.size in SIZES else 50
        return int(requested) if requested in {str(size) for size in SIZES} else preferred

    @cached_property
    def shown_columns(self) -> list[Column]:
        if not self.preferences.columns:
            return [column for column in self.columns if column.shown or column.fixed]
        return [column for column in self.columns if column.fixed or column.name in self.preferences.columns]

    # The result

    @cached_property
    def total(self) -> int:
        """Return how many rows match; at most `max_counted` + 1 when the total is not known."""
        if not self.is_narrowed and self.known_total is not None:
            return self.known_total() if callable(self.known_total) else self.known_total
        if self.is_first_page:
            self.page = self.complete_page(
                self.cached_first_page or keyset.load_page(self.page_rows, self.order, self.size)
            )
            if self.page.next is None:  # a first page that is the last one needs no count
                return len(self.page.rows)
            if hasattr(self.page.rows[0], "all_that_match"):
                return min(int(self.page.rows[0].all_that_match), self.max_counted + 1)
        rows = self.rows_to_count.order_by()
        if rows.query.group_by is None and not rows.query.combinator and not rows.query.distinct:
            rows = rows.values(self.key)  # counting does not need the annotations
        return rows[: self.max_counted + 1].count()

    @property
    def is_more_than_counted(self) -> bool:
        return self.total == self.max_counted + 1 and (self.is_narrowed or self.known_total is None)

    @cached_property
    def page(self) -> keyset.ListPage:
        total = 0 if self.is_more_than_counted else self.total
        if "page" in self.__dict__:  # counting has loaded it
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
        """Return the page with everything that its rows need, if the list's query loads less."""
        return page

    @cached_property
    def cached_first_page(self) -> keyset.ListPage | None:
        """Return the first page of a fixed list, or of a text search in one, from cached SQL; None for others."""
        is_cached = type(self).cached_query is not None and self.is_first_page and not self.is_filtered
        pieces = self.search_pieces if is_cached else None
        if pieces is None or not self._has_all_values(self.order.field):
            return None
        query = self._first_page_query(self.order, self.size, pieces.are_long, tuple(pieces.values))
        found = query.rows(**pieces.values)
        return keyset.first_page(found, self.order, self.size)

    @property
    def search_pieces(self) -> Any:
        """Return what the rows of a fixed list depend on besides the tenant; None if more than that.

        It is a `people.queries.SearchPieces` with `are_long` and `values`, both empty without a search text.
        """
        return None

    @classmethod
    def filter_by_pieces(cls, rows: QuerySet[Any], are_long: Any, values: dict[str, str]) -> QuerySet[Any]:
        """Return those of a fixed list's rows that match the search pieces."""
        raise NotImplementedError

    @classmethod
    @lru_cache(maxsize=500)
    def _has_all_values(cls, field: str) -> bool:
        """Return whether every row of a fixed list has a value to sort by."""
        return cls.cached_query is not None and not keyset.is_nullable(cls.cached_query(), field)

    @classmethod
    @lru_cache(maxsize=500)
    def _first_page_query(
        cls, order: keyset.SortOrder, size: int, long: tuple[bool, ...], names: tuple[str, ...]
    ) -> CompiledQuery[Any]:
        """Return the cached SQL of a fixed list's first page, or of a search with pieces of these names."""

        def build(**values: str) -> QuerySet[Any]:
            rows: Any = cls.cached_query
            found = cls.filter_by_pieces(rows(), long, values).annotate(**_COUNT_ALONG) if long else rows()
            return keyset.first_page_rows(cls.with_row_fields(found, order), order, size)

        return CompiledQuery(build, plan_each_time=True, **dict.fromkeys(names, ""))

    # Responses

    def respond(self, template: str, context: dict[str, Any] | None = None) -> HttpResponse:
        """Return the page `template` with `table` in its context, or the list alone when htmx replaces only that."""
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
