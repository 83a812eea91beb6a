"""A client of web pages: it keeps cookies, follows redirects, reads forms and sends them, like a browser."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from urllib.parse import urljoin

import httpx2


class UnexpectedPage(RuntimeError):
    """The client expected another page; the text contains the expected and the received one."""


@dataclass
class PageForm:
    """A form of a page with the values it would send; `checkboxes` are its checkboxes, by name and label."""

    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    checkboxes: dict[str, dict[str, str]] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[PageForm] = []
        self._open: PageForm | None = None
        self._select: str | None = None
        self._box: tuple[str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = PageForm(given.get("action", ""), given.get("method", "get").lower())
            self.found.append(self._open)
        elif self._open is not None and given.get("name"):
            self._field(tag, given, {name for name, _ in attrs})
        elif tag == "option" and self._open is not None and self._select:
            first = self._select not in self._open.values
            if first or "selected" in given:
                self._open.values[self._select] = given.get("value", "")

    def _field(self, tag: str, given: dict[str, str], present: set[str]) -> None:
        assert self._open is not None  # noqa: S101 - for the type checker: the caller has checked
        kind = given.get("type", "text")
        if kind == "checkbox":
            self._box = given["name"], given.get("value", "on")
        if tag == "button" or (tag == "input" and kind == "submit"):
            self._open.buttons.append((given["name"], given.get("value", "")))
        elif tag == "select":
            self._select = given["name"]
        elif tag == "textarea":
            self._open.values.setdefault(given["name"], "")
        elif tag == "input" and (kind not in {"checkbox", "radio"} or "checked" in present):
            self._open.values[given["name"]] = given.get("value", "on" if kind == "checkbox" else "")

    def handle_data(self, data: str) -> None:
        if self._open is not None and self._box is not None and data.strip():
            name, value = self._box
            self._open.checkboxes.setdefault(name, {})[data.strip()] = value
            self._box = None

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select":
            self._select = None


class PageClient:
    """One browser session. A context manager."""

    def __init__(self) -> None:
        self._client = httpx2.Client(follow_redirects=True, timeout=60, headers={"Accept-Language": "en"})
        self._page: httpx2.Response | None = None

    def __enter__(self) -> "PageClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def open(self, url: str) -> httpx2.Response:
        """Open `url` and keep the page. Raises UnexpectedPage unless the final status is 200."""
        return self._save_page(self._client.get(url))

    def find_form(self, *, field: str = "", action: str = "", button: str = "") -> PageForm:
        """Return the form with this field, this text in its action or this button.

        Raises UnexpectedPage without one.
        """
        page = self.page
        reader = _Forms()
        reader.feed(page.text)
        for form in reader.found:
            named = {name for name, _ in form.buttons}
            asks = not field or field in form.values or field in form.checkboxes
            if asks and action in form.action and (not button or button in named):
                return form
        missing = field or action or button
        raise UnexpectedPage(f"{page.url} has no form with {missing!r}: {_excerpt(page.text)}")

    def submit(self, form: PageForm, **values: str | list[str]) -> httpx2.Response:
        """Send the form with `values` in it and keep the page of the answer."""
        data: dict[str, str | list[str]] = {**form.values, **values}
        if form.method == "get":
            return self._save_page(self._client.get(self._action_of(form), params=data, headers=self._headers()))
        return self._save_page(self._client.post(self._action_of(form), data=data, headers=self._headers()))

    def upload(self, form: PageForm, files: dict[str, tuple[str, bytes]], **values: str) -> httpx2.Response:
        """Send a form that takes files, each by its name and content, and keep the page of the answer."""
        data = {**form.values, **values}
        return self._save_page(
            self._client.post(self._action_of(form), data=data, files=files, headers=self._headers())
        )

    def _action_of(self, form: PageForm) -> str:
        return urljoin(str(self.page.url), form.action)

    def _headers(self) -> dict[str, str]:
        return {"Referer": str(self.page.url)}

    @property
    def page(self) -> httpx2.Response:
        """Return the page that was opened last. Raises UnexpectedPage without one."""
        if self._page is None:
            raise UnexpectedPage("no page was opened yet")
        return self._page

    def _save_page(self, page: httpx2.Response) -> httpx2.Response:
        if page.status_code != 200:
            raise UnexpectedPage(f"{page.url} answered {page.status_code}: {_excerpt(page.text)}")
        self._page = page
        return page


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._skip = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skip = tag in {"style", "script", "head"} or (self._skip and tag != "body")

    def handle_data(self, data: str) -> None:
        if not self._skip:
            self.words += data.split()


def _excerpt(html: str) -> str:
    text = _Text()
    text.feed(html)
    return " ".join(text.words)[:400]
