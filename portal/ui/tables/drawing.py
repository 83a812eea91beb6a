"""What the templates of a list ask of it: addresses of its controls, the rows' HTML. Mixed into `Table`."""

from html import escape
from typing import TYPE_CHECKING, Any, cast

from django.utils.functional import cached_property
from django.utils.safestring import SafeString, mark_safe

from portal.ui import icons
from portal.ui.tables import keyset, rows
from portal.ui.tables.extras import DrawnAction, Header

if TYPE_CHECKING:
    from portal.ui.tables.table import Table

SIZES = (25, 50, 100, 200)


class Drawing:
    """The drawn side of a list."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def last(self) -> int:
        return self.page.first + len(self.page.rows) - 1 if self.page.rows else 0

    @cached_property
    def headers(self) -> list[Header]:
        return [Header.of(column, self.order, self.address) for column in self.shown]

    @property
    def offered(self) -> tuple[Any, ...]:
        """What the menu of columns is drawn from."""
        shown = {column.name for column in self.shown}
        return tuple((each.name, str(each.label), each.name in shown, each.fixed) for each in self.columns)

    @cached_property
    def drawn(self) -> tuple[SafeString, SafeString]:
        """The rows, and the icons that they refer to."""
        body, pictures = icons.drawn_once(rows.draw(cast("Table", self)), escape(self.name))
        return mark_safe(body), pictures  # noqa: S308 - drawn and escaped by rows.draw

    @property
    def body(self) -> SafeString:
        return self.drawn[0]

    @property
    def pictures(self) -> SafeString:
        return self.drawn[1]

    @property
    def carried(self) -> list[tuple[str, str]]:
        """What the search form takes along besides the search and the filters it has inputs for."""
        return self.address.kept("q", "export", *(each.name for each in self.bound))

    @cached_property
    def drawn_filters(self) -> list[tuple[Any, str, SafeString]]:
        """Each filter with the address that takes it off and its choices."""
        form = f"{self.name}-filter"
        return [(each, self.address.with_(**{each.name: None}), each.options_html(form)) for each in self.bound]

    @cached_property
    def drawn_actions(self) -> list[DrawnAction]:
        return [DrawnAction(action, action.url(self.request)) for action in self.allowed_actions()]

    @property
    def size_links(self) -> list[tuple[int, str]]:
        return [(size, self.address.with_(size=str(size))) for size in SIZES]

    @property
    def previous_href(self) -> str:
        return str(self.address.with_(before=self.page.previous))

    @property
    def next_href(self) -> str:
        return str(self.address.with_(after=self.page.next))

    @property
    def first_href(self) -> str:
        return str(self.address.with_())

    @property
    def last_href(self) -> str:
        return str(self.address.with_(before=keyset.END))

    @property
    def empty_url(self) -> str:
        return self.empty.url(self.request) if self.empty and self.empty.url else ""

    @property
    def files(self) -> list[tuple[str, str]]:
        """The export links that this person gets: (kind, address)."""
        if not self.may(self.export_permission):
            return []
        return [(kind, self.address.with_(export=kind)) for kind in self.exports]

    @property
    def wanted_file(self) -> str:
        """The kind of file that the address asks for, if this list gives it: the view answers by `files.respond`."""
        kind = self.address.get("export")
        return kind if kind in dict(self.files) else ""
