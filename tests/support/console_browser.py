"""A person at the sandbox's console with a browser that runs no script: pages, forms, cookies."""

from typing import Any

import httpx2

from accessapi.transport import tls_context
from tests.support.browser import Form, forms_of, gist


class Visitor:
    """One person's browser. Pages are named below /console."""

    def __init__(self, url: str, language: str = "en") -> None:
        self.url = url
        headers = {"Accept-Language": language}
        self.http = httpx2.Client(base_url=f"{url}/console", timeout=60, verify=tls_context(), headers=headers)
        self.page: httpx2.Response

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def look(self, path: str, **options: Any) -> str:
        """Return the page's text, without its tags."""
        self.page = self.http.get(path, follow_redirects=True, **options)
        return gist(self.page, 100_000)

    def form(self, act: str, **having: str) -> Form:
        """Return the form of the page that does `act`, with these values in it."""
        for form in forms_of(self.page, self.url):
            if form.values.get("act") == act and having.items() <= form.values.items():
                return form
        raise AssertionError(f"no form for {act}: {gist(self.page)}")

    def send(self, act: str, *, having: dict[str, str] | None = None, **values: Any) -> str:
        """Fill in the form, send it and follow the redirect; return the text of the next page."""
        form = self.form(act, **(having or {}))
        self.page = self.http.post(str(self.page.url), data=form.values | values, follow_redirects=True)
        return gist(self.page, 100_000)

    def post(self, path: str, **values: Any) -> httpx2.Response:
        """POST any values, with the token of the page that is open."""
        token = next(
            form.values["csrfmiddlewaretoken"] for form in forms_of(self.page, self.url) if form.method == "post"
        )
        return self.http.post(path, data={"csrfmiddlewaretoken": token} | values)
