"""HTTP below accessapi's client: answers exactly as received, and requests that the client refuses to build."""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx2

from accessapi import encoding, reading
from accessapi.errors import NotSent, OutcomeUnknown
from accessapi.operations import Body
from accessapi.overrides import Catalogue
from accessapi.transport import ServiceTransport, shared_pool
from tests.contract.outcomes import Unreachable

_NOTHING = object()


@dataclass(frozen=True)
class Reply:
    """An answer as it was received. `status` 0: the connection broke, or no answer arrived in time (see `lost`)."""

    status: int
    headers: httpx2.Headers = field(default_factory=httpx2.Headers, repr=False)
    content: bytes = field(default=b"", repr=False)
    lost: str = ""

    @property
    def json(self) -> Any:
        """Return the body's value; None when it is not JSON."""
        try:
            return reading.read_json(self.content)
        except ValueError:
            return None

    @property
    def fine(self) -> bool:
        return 200 <= self.status <= 299

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class Recorder(ServiceTransport):
    """accessapi's transport, which counts the requests and keeps the last answer."""

    def __init__(self, base_url: str) -> None:
        super().__init__(shared_pool(base_url))
        self.calls = 0
        self.last = Reply(0)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        self.last = Reply(0)
        try:
            response = super().handle_request(request)
        except NotSent as error:
            self.last = Reply(0, lost="not sent")
            if error.reason in ("connect_failed", "connect_timeout"):
                raise Unreachable(error.reason) from None
            raise
        except OutcomeUnknown as error:
            self.last = Reply(0, lost=error.reason)
            raise
        self.last = Reply(response.status_code, response.headers, response.content)
        return response


class RawCall:
    """Sends requests in the service's form but outside its limits."""

    def __init__(self, recorder: Recorder, base_url: str, catalogue: Catalogue) -> None:
        self._recorder = recorder
        self._base_url = base_url
        self._catalogue = catalogue

    def api(
        self,
        name: str,
        *,
        token: str,
        licence_key: str | None = None,
        path: dict[str, str] | None = None,
        query: Sequence[tuple[str, str]] = (),
        body: Any = _NOTHING,
    ) -> Reply:
        """Call an operation. `body` is any JSON value, or an Image."""
        row = self._catalogue.find(name)
        url = self._base_url + encoding.encode_path(row, path or {})
        headers = {"Accept": "application/json", "Authorization": f"Bearer {token}"}
        if licence_key is not None:
            headers["License-Key"] = licence_key
        content = b""
        if row.body is Body.IMAGE and isinstance(body, encoding.Image):
            content, headers["Content-Type"] = encoding.encode_image(body, self._catalogue.shapes)
        elif body is not _NOTHING:
            content, headers["Content-Type"] = json.dumps(body, ensure_ascii=False).encode(), "application/json"
        return self.send(row.method, url, query=query, headers=headers, content=content)

    def oauth(
        self,
        name: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        form: Sequence[tuple[str, str]] = (),
        bearer: str = "",
    ) -> Reply:
        """Call an OAuth endpoint; `bearer` goes into the header AUTHORIZATIONS."""
        row = self._catalogue.find(name)
        headers = {"Accept": "text/html" if row.method == "GET" else "application/json"}
        content = b""
        if row.method != "GET":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            content = urlencode(form).encode()
        if bearer:
            headers["AUTHORIZATIONS"] = f"Bearer {bearer}"
        return self.send(row.method, self._base_url + row.path, query=query, headers=headers, content=content)

    def send(
        self, method: str, url: str, *, query: Sequence[tuple[str, str]], headers: dict[str, str], content: bytes
    ) -> Reply:
        """Send one request. Failures of the connection become a Reply of status 0. Raises Unreachable."""
        if query:
            url += "?" + urlencode(query, quote_via=quote)
        with contextlib.suppress(NotSent, OutcomeUnknown):
            self._recorder.handle_request(httpx2.Request(method, url, headers=headers, content=content))
        return self._recorder.last
