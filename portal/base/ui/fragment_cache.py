"""Make pages faster: remove indentation from templates, and cache parts of pages in the process.

Most of a page's processor time went to template nodes that render the same on every page. A cached part is a list of
texts and of the nodes between them that are rendered each time (`UncachedNode`). The tags are `{% cached %}` and
`{% live %}`.
"""

import re
from contextvars import ContextVar
from typing import Any

from django.template.base import Node, NodeList, Origin
from django.template.context import Context
from django.template.loaders import cached
from django.utils.safestring import SafeString
from django.utils.translation import get_language

# The uncached nodes found so far, while a part is rendered for the cache.
_uncached_nodes: ContextVar[list["UncachedNode"] | None] = ContextVar("left_out", default=None)
_PLACEHOLDER = re.compile(r"\x00(\d+)\x00")
_INDENTED = re.compile(r"\s*\n\s*")
# Line breaks of a template. The first alternative matches places where they matter: texts to translate, and elements
# that show them.
_BREAKS = re.compile(
    r"(?P<meant>{%\s*blocktrans(?:late)?\b.*?{%\s*endblocktrans|<(?P<tag>pre|textarea|script)\b.*?</(?P=tag)>)"
    rf"|{_INDENTED.pattern}",
    re.DOTALL,
)


class Loader(cached.Loader):
    """A loader that reads templates once, and removes the indentation of pages, an eighth of their bytes."""

    def get_contents(self, origin: Origin) -> str:
        """Return the template's source. Each line break is kept: between words it acts as a space."""
        source: str = super().get_contents(origin)
        if not origin.name.endswith(".html"):
            return source
        return _BREAKS.sub(lambda found: found["meant"] or "\n", source)


class UncachedNode(Node):
    """A node inside a cached part that is rendered on each page."""

    child_nodelists = ("body",)

    def __init__(self, body: NodeList) -> None:
        self.body = body

    def render(self, context: Context) -> SafeString:
        left_out = _uncached_nodes.get()
        if left_out is None:
            return self.body.render(context)
        left_out.append(self)
        return SafeString(f"\x00{len(left_out) - 1}\x00")


class CachedNode(Node):
    """A part of a page that depends only on its keys and the language, rendered once for each per process."""

    MAX_ENTRIES = 1000  # each at most about 20 KB
    child_nodelists = ("body",)

    def __init__(self, keys: list[Any], body: NodeList) -> None:
        self.keys, self.body = keys, body
        self.entries: dict[tuple[Any, ...], list[Any]] = {}

    def render(self, context: Context) -> SafeString:
        key = (get_language(), *[each.resolve(context) for each in self.keys])
        if None in key:
            return self.body.render(context)
        parts = self.entries.get(key)
        if parts is None:
            if len(self.entries) >= self.MAX_ENTRIES:
                self.entries.clear()
            parts = self.entries[key] = self._render_parts(context)
        drawn = [each if type(each) is str else each.render(context) for each in parts]
        return SafeString("".join(drawn))  # parts of templates, already escaped

    def _render_parts(self, context: Context) -> list[Any]:
        """Return the texts and the nodes between them. Indentation must have no meaning in cached parts."""
        left_out: list[UncachedNode] = []
        outer = _uncached_nodes.set(left_out)
        try:
            drawn = _INDENTED.sub("\n", self.body.render(context))
        finally:
            _uncached_nodes.reset(outer)
        parts = _PLACEHOLDER.split(drawn)
        return [left_out[int(each)] if place % 2 else each for place, each in enumerate(parts)]
