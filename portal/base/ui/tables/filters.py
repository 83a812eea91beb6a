"""The query of a list's URL: filters, sort and page, so that a link shows the same view."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

PAGING = ("after", "before")
# Separates texts that are escaped together: PostgreSQL never stores this character.
_SEPARATOR = "\0"


def escape_all(texts: list[str]) -> list[str]:
    """Return the texts escaped, all together: one by one takes several times as long."""
    found = escape(_SEPARATOR.join(texts)).split(_SEPARATOR)
    return found if len(found) == len(texts) else list(map(escape, texts))


class ListAddress:
    """The list's path and query. Every change of the query starts again at the first page."""

    def __init__(self, path: str, query: QueryDict) -> None:
        self.path, self.query = path, query

    def get(self, name: str) -> str:
        return self.query.get(name, "")

    def get_all(self, name: str) -> list[str]:
        return self.query.getlist(name)

    def with_(self, **changes: str | list[str] | None) -> str:
        """Return this URL with `changes`; None or an empty value removes a name."""
        parameters = [(k, v) for k, vs in self.query.lists() if k not in changes and k not in PAGING for v in vs if v]
        for name, value in changes.items():
            values = value if isinstance(value, list) else [value]
            parameters += [(name, each) for each in values if each]
        return f"{self.path}?{urlencode(parameters)}" if parameters else self.path

    def hidden_inputs(self, *but: str) -> list[tuple[str, str]]:
        """Return the hidden inputs of a filter form: the whole query except paging and the names in `but`."""
        return [(k, v) for k, vs in self.query.lists() if k not in but and k not in PAGING for v in vs if v]

    @property
    def full(self) -> str:
        """Return this URL with its page."""
        return f"{self.path}?{self.query.urlencode()}" if self.query else self.path

    @property
    def match_query(self) -> str:
        """Return the part of the query that filters rows, for actions on all of them."""
        return urlencode(self.hidden_inputs("size", "sort", "export"))


Choice = tuple[str, str | Promise]
_MAX_UNSEARCHED = 10


@dataclass(frozen=True, slots=True)
class Filter:
    """A choice of values; rows that match any of them stay.

    `choices` is a sequence of (value, label) or a function of the request that returns one. `apply` narrows the
    queryset by the chosen values; it gets only known ones. With `is_single`, only one value can be chosen. `find_url`
    returns the URL of a search for values, if there are too many to list; empty for people without access to it.
    `describe_chosen` returns the choices for the values in the URL, for a filter that is offered only by links.
    """

    name: str
    label: str | Promise
    choices: Sequence[Choice] | Callable[[Any], Iterable[Choice]]
    apply: Callable[[QuerySet[Any], list[str]], QuerySet[Any]]
    is_single: bool = False
    find_url: Callable[[Any], str] | None = None
    describe_chosen: Callable[[Any, list[str]], Iterable[Choice]] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str | Promise
    is_chosen: bool


class BoundFilter:
    """A filter with the URL's chosen values. Unknown values are shown, and match nothing."""

    def __init__(self, source: Filter, request: Any, values: list[str]) -> None:
        self.filter, self.name, self.label, self.is_single = source, source.name, source.label, source.is_single
        self.find_url = source.find_url(request) if source.find_url else ""
        self.values = [value for value in dict.fromkeys(values) if value]
        known = list(source.choices(request) if callable(source.choices) else source.choices)
        if source.describe_chosen is not None and self.values:
            known += source.describe_chosen(request, self.values)
        self.unknown = [value for value in self.values if value not in dict(known)]
        strange = [(value, _("%(value)s (unknown)") % {"value": value}) for value in self.unknown]
        self.options = [Option(value, label, value in self.values) for value, label in [*known, *strange]]

    @property
    def is_active(self) -> bool:
        return bool(self.values)

    @property
    def cache_key(self) -> tuple[Any, ...] | None:
        """Return what its menu depends on while nothing is chosen; None if it differs on each page."""
        return None if self.is_active or self.find_url else (self.name, str(self.label), self.is_searchable)

    @property
    def is_searchable(self) -> bool:
        return len(self.options) > _MAX_UNSEARCHED

    @property
    def summary(self) -> str:
        """Return a short text of the choice: one label, or the first and how many more."""
        labels = [str(option.label) for option in self.options if option.is_chosen]
        return labels[0] if len(labels) == 1 else f"{labels[0]} +{len(labels) - 1}" if labels else ""

    def options_html(self, form: str) -> SafeString:
        """Return the choices as inputs of the form `form`. A template is too slow for hundreds of groups."""
        kind, name, form = "radio" if self.is_single else "checkbox", escape(self.name), escape(form)
        before = f'<label><input type="{kind}" form="{form}" name="{name}" value="'
        values = escape_all([option.value for option in self.options])
        labels = escape_all([str(option.label) for option in self.options])
        drawn = (
            f'{before}{value}"{" checked" if option.is_chosen else ""}><span>{label}</span></label>'
            for option, value, label in zip(self.options, values, labels, strict=True)
        )
        return mark_safe("".join(drawn))  # noqa: S308 - escaped piece by piece above

    def narrow(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        known = [value for value in self.values if value not in self.unknown]
        if not self.values:
            return queryset
        return self.filter.apply(queryset, known) if known else queryset.none()
