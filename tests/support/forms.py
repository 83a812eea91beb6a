"""The forms of a page as a browser has them: the values that they would send, and their text fields."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

_NOT_SENT = ("submit", "button", "image", "reset", "file")
_TYPED = ("text", "search", "email", "tel", "url", "textarea")


@dataclass
class PageForm:
    """A form that is sent by POST: its address, its values in order, and the names of its fields by kind."""

    address: str
    values: list[tuple[str, str]] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    secret: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    def data(self, **typed: str) -> dict[str, list[str]]:
        """Return the values that it sends after these texts were typed."""
        sent: dict[str, list[str]] = {}
        for name, value in self.values:
            sent.setdefault(name, []).append(value)
        return sent | {name: [value] for name, value in typed.items()}


def forms_of(text: str, path: str) -> list[PageForm]:
    """Return the forms of a page that are sent by POST."""
    return _Forms(text, path).found


class _Forms(HTMLParser):
    def __init__(self, text: str, path: str) -> None:
        super().__init__()
        self.found: list[PageForm] = []
        self._path, self._open, self._select, self._area = path, None, "", ""
        self._options: list[tuple[bool, str]] = []
        self._samples = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._samples += tag == "template"
        if self._samples:
            return
        if tag == "form":
            self._open = PageForm(urljoin(self._path, given.get("action") or self._path))
            if given.get("method", "").lower() == "post":
                self.found.append(self._open)
        elif self._open is not None and "disabled" not in given:
            self._control(tag, given, self._open)

    def _control(self, tag: str, given: dict[str, str], form: PageForm) -> None:
        name, kind = given.get("name", ""), given.get("type", "text").lower() if tag == "input" else tag
        if tag == "option" and self._select:
            self._options.append(("selected" in given, given.get("value", "")))
        elif tag == "select":
            self._select, self._options = name, []
        elif not name:
            return
        elif tag == "button" or kind == "submit":
            form.buttons.append((name, given.get("value", "")))
        elif kind == "file":
            form.files.append(name)
        elif kind == "textarea":
            form.typed.append(name)
            form.values.append((name, ""))
            self._area = name
        elif tag == "input" and kind not in _NOT_SENT and (kind not in ("checkbox", "radio") or "checked" in given):
            form.values.append((name, given.get("value", "on" if kind in ("checkbox", "radio") else "")))
            told: Any = {"hidden": form.hidden, "password": form.secret}
            told.get(kind, form.typed if kind in _TYPED else []).append(name)

    def handle_data(self, data: str) -> None:
        if self._area and self._open is not None:
            name, before = self._open.values[-1]
            self._open.values[-1] = (name, before + (data.removeprefix("\n") if not before else data))

    def handle_endtag(self, tag: str) -> None:
        if self._samples:
            self._samples -= tag == "template"
        elif tag == "form":
            self._open = None
        elif tag == "textarea":
            self._area = ""
        elif tag == "select" and self._select and self._open is not None:
            chosen = [value for is_chosen, value in self._options if is_chosen]
            chosen = chosen or [value for _, value in self._options[:1]]
            self._open.values += [(self._select, value) for value in chosen]
            self._select = ""
