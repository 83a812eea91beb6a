"""Addresses of a list: filters, sort and page live in the query string, so that a link is the view."""

from urllib.parse import urlencode

from django.http import QueryDict

PAGING = ("after", "before")


class Address:
    """The list's path and query. Every change of what is listed starts again at the first page."""

    def __init__(self, path: str, query: QueryDict) -> None:
        self.path, self.query = path, query

    def get(self, name: str) -> str:
        return self.query.get(name, "")

    def all(self, name: str) -> list[str]:
        return self.query.getlist(name)

    def with_(self, **changes: str | list[str] | None) -> str:
        """This address with `changes`; None or an empty value removes a name."""
        kept = [(k, v) for k, vs in self.query.lists() if k not in changes and k not in PAGING for v in vs if v]
        for name, value in changes.items():
            values = value if isinstance(value, list) else [value]
            kept += [(name, each) for each in values if each]
        return f"{self.path}?{urlencode(kept)}" if kept else self.path

    def kept(self, *but: str) -> list[tuple[str, str]]:
        """What a filter form must carry as hidden inputs: everything except paging and the names in `but`."""
        return [(k, v) for k, vs in self.query.lists() if k not in but and k not in PAGING for v in vs if v]

    @property
    def here(self) -> str:
        """This very address, page included."""
        return f"{self.path}?{self.query.urlencode()}" if self.query else self.path

    @property
    def match(self) -> str:
        """The query that says what matches, for acting on all of it."""
        return urlencode(self.kept("size", "sort", "export"))
