"""A signed-in person's browser without a screen: cookies, CSRF and forms over real HTTP. No status is an error."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Self
from urllib.parse import urljoin

import httpx2

from accessapi.transport import tls_context


@dataclass
class Form:
    """A form of a page, with the values that it would send unchanged."""

    action: str
    method: str = "get"
    values: dict[str, str] = field(default_factory=dict)


class Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._open: Form | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(given.get("action", ""), given.get("method", "get").lower())
            self.found.append(self._open)
        elif self._open is None:
            return
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and self._select and ("selected" in given or self._select not in self._open.values):
            self._open.values[self._select] = given.get("value", "")
        elif tag == "textarea":
            self._open.values[given.get("name", "")] = ""
        elif tag == "input" and given.get("name"):
            kind = given.get("type", "text")
            if kind not in ("submit", "file") and (kind not in ("checkbox", "radio") or "checked" in given):
                self._open.values[given["name"]] = given.get("value", "on" if kind in ("checkbox", "radio") else "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select":
            self._select = ""


class Browser:
    """One session. Answers are returned as they are; redirects are followed only on request."""

    def __init__(self, url: str, transport: httpx2.BaseTransport | None = None) -> None:
        self.url = url
        self.http = httpx2.Client(
            base_url=url,
            transport=transport,
            timeout=60,
            verify=tls_context(),
            headers={"Accept-Language": "en", "Referer": url + "/"},
            # The site ends a connection that was idle for two seconds, possibly while a request is being sent on it.
            limits=httpx2.Limits(max_connections=100, keepalive_expiry=1.0),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def sign_in(self, email: str, password: str) -> Self:
        self.get("/accounts/login/")
        answer = self.post("/accounts/login/", login=email, password=password)
        assert answer.status_code == 302, f"signing in as {email}: {answer.status_code} {gist(answer)}"
        return self

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.http.get(path, **options)

    def post(self, path: str, data: dict[str, Any] | None = None, **values: Any) -> httpx2.Response:
        """POST a form with a valid CSRF token."""
        return self.send("POST", path, data=(data or {}) | values)

    def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request by any method, with a valid CSRF token."""
        name = "__Host-csrftoken" if self.url.startswith("https:") else "csrftoken"
        headers = {"X-CSRFToken": self.http.cookies.get(name, "")} | options.pop("headers", {})
        return self.http.request(method, path, headers=headers, **options)

    def form(self, path: str, action: str = "", *, having: str = "") -> Form:
        """Return the form of a page with this text in its address, or with this field. Its action is resolved."""
        page = self.get(path, follow_redirects=True)
        assert page.status_code == 200, f"{path}: {page.status_code} {gist(page)}"
        for form in forms_of(page, self.url):
            if action in form.action and (not having or having in form.values):
                return form
        raise AssertionError(f"{path} has no form with {action or having!r}: {gist(page)}")


def upload(browser: Browser, path: str, field: str, name: str, content: bytes) -> httpx2.Response:
    """POST a file and follow the redirect."""
    return browser.send("POST", path, files={field: (name, content)}, follow_redirects=True)


def forms_of(page: httpx2.Response, url: str) -> list[Form]:
    """Return the forms of a page, their actions resolved to paths."""
    reader = Forms()
    reader.feed(page.text)
    for form in reader.found:
        form.action = urljoin(str(page.url), form.action).removeprefix(url)
    return reader.found


def gist(page: httpx2.Response, most: int = 400) -> str:
    """Return a page's text without its tags, shortened."""
    text = re.sub(r"(?s)<(script|style|head).*?</\1>|<[^>]+>", " ", page.text)
    return " ".join(text.split())[:most]
