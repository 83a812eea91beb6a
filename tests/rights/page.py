"""A page's editor as a browser would send it."""

from html.parser import HTMLParser

from django.http import QueryDict


class _Inputs(HTMLParser):
    """The sent controls of every form, in the order of the page, without samples for the script."""

    def __init__(self):
        super().__init__()
        self.found, self._select, self._options, self._sample = [], "", [], 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "template":
            self._sample += 1
        if self._sample:
            return
        if tag == "select":
            self._select, self._options = given.get("name", ""), []
        elif tag == "option" and self._select:
            self._options.append((given.get("value", ""), "selected" in given))
        elif tag == "input" and given.get("name"):
            kind = given.get("type", "text")
            if kind not in ("checkbox", "radio") or "checked" in given:
                self.found.append((given["name"], given.get("value", "on") or ""))

    def handle_endtag(self, tag):
        if tag == "template":
            self._sample -= 1
        elif tag == "select" and not self._sample:
            chosen = [value for value, picked in self._options if picked] or [v for v, _ in self._options[:1]]
            self.found += [(self._select, value) for value in chosen if self._select]
            self._select = ""


def inputs(html: str) -> list[tuple[str, str]]:
    reader = _Inputs()
    reader.feed(html)
    return reader.found


def posted(html: str) -> QueryDict:
    """Return the form's data as Django receives it when it is sent unchanged."""
    data = QueryDict(mutable=True)
    for name, value in inputs(html):
        data.appendlist(name, value)
    return data
