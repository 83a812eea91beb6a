"""The client: each call to the service ends with an `Answer` or an error of `accessapi.errors`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from accessapi import encoding, reading
from accessapi.encoding import Image
from accessapi.errors import NotSent, ServiceError, UnreadableAnswer
from accessapi.operations import Body, CallClass, Operation
from accessapi.overrides import Catalogue
from accessapi.reading import Answer, RateHeaders
from accessapi.transport import BeforeWrite, ServiceTransport, shared_pool

__all__ = ["Answer", "Client", "Image", "RateHeaders"]

logger = logging.getLogger(__name__)

Gate = Callable[[Operation], None]
Observe = Callable[[Operation, RateHeaders, int, ServiceError | None], None]


def no_licence() -> str | None:
    return None


def validate_base_url(base_url: str) -> str:
    """Return `base_url` without a trailing slash. Raises ValueError unless it is plain http(s)://host[:port][/path]."""
    parts = urlsplit(base_url)
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise ValueError("a base URL is http(s)://host, with a port and a path if need be, and nothing else")
    return base_url.rstrip("/")


class Client:
    """The service for one tenant. Threads may share it. It stores no secret and requests the token at each call.

    `gate` is called before anything is sent, and refuses by raising its own exception. `observe` gets the operation,
    the rate headers, the status and the error (None for a 2xx) of every response. Its exceptions are logged and never
    hide the outcome. Connections come from the process's pool for `base_url`, or from `transport`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        catalogue: Catalogue,
        token: Callable[[], str],
        licence_key: Callable[[], str | None] = no_licence,
        gate: Gate | None = None,
        observe: Observe | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.base_url = validate_base_url(base_url)
        self.catalogue = catalogue
        self._token = token
        self._licence_key = licence_key
        self._gate = gate
        self._observe = observe
        if isinstance(transport, ServiceTransport):
            self._wire = transport
        else:
            self._wire = ServiceTransport(transport or shared_pool(self.base_url))

    def __repr__(self) -> str:
        return f"<Client {self.base_url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: connections belong to the pool."""

    def call(
        self,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        fresh: bool = False,
        before_write: BeforeWrite | None = None,
    ) -> Answer:
        """Make one call of the operation `name` and return its answer.

        `fresh` uses a new connection and closes it afterwards. `before_write` is called on the open connection,
        immediately before the first byte of the request. If it raises, nothing is written and `NotSent` is raised from
        it. Raises `InvalidRequest`, any exception of `gate`, and the other errors of `accessapi.errors`. Timeouts: 3 s
        to connect, 10 s between bytes, 30 s for the whole answer.
        """
        operation = self.catalogue.find(name)
        if operation.call_class is CallClass.OAUTH:
            raise ValueError(f"{name} belongs to accessapi.oauth")
        url = self._url(operation, path or {}, query or {})
        content, content_type = self._content(operation, encoding.validate_body(operation, body, self.catalogue.limits))
        if self._gate is not None:
            self._gate(operation)
        request = self._request(operation, url, content, content_type, fresh, before_write)
        response = self._wire.handle_request(request)
        error = None
        if not 200 <= response.status_code <= 299:
            answer_content = _without_credentials(request, response.content)
            error = reading.read_error(response.status_code, response.headers, answer_content)
        self._notify_observer(operation, response, error)
        if error is not None:
            raise error
        return reading.read_answer(operation, response.status_code, response.headers, response.content)

    def pages(self, name: str, query: Mapping[str, Any] | None = None) -> Iterator[Answer]:
        """Yield every page of a list in order, one call each. Raises `UnreadableAnswer` if a cursor is repeated.

        Specification: "Pagination": the query is repeated unchanged with last_evaluated_key set.
        """
        cursors: set[str] = set()
        query = dict(query or {})
        while True:
            answer = self.call(name, query=query)
            yield answer
            cursor = answer.cursor
            if cursor is None:
                return
            if cursor in cursors:
                raise UnreadableAnswer("the list's cursor repeats", answer.status)
            cursors.add(cursor)
            query["last_evaluated_key"] = cursor

    def _url(self, operation: Operation, path: Mapping[str, str], query: Mapping[str, Any]) -> str:
        url = self.base_url + encoding.encode_path(operation, path)
        text = encoding.encode_query(operation, query)
        return f"{url}?{text}" if text else url

    def _content(self, operation: Operation, body: Any) -> tuple[bytes, str | None]:
        if operation.body is Body.NONE:
            return b"", None
        if operation.body is Body.IMAGE:
            return encoding.encode_image(body, self.catalogue.shapes)
        return encoding.encode_json(operation, body, self.catalogue.shapes), "application/json"

    def _request(
        self,
        operation: Operation,
        url: str,
        content: bytes,
        content_type: str | None,
        fresh: bool,
        before_write: BeforeWrite | None,
    ) -> httpx2.Request:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if content_type is not None:
            headers["Content-Type"] = content_type
        if fresh:
            headers["Connection"] = "close"
        extensions = {"fresh": fresh, "before_write": before_write}
        request = httpx2.Request(operation.method, url, headers=headers, content=content, extensions=extensions)
        self._add_credentials(operation, request)
        return request

    def _add_credentials(self, operation: Operation, request: httpx2.Request) -> None:
        # Set directly on the request: a local variable of a long-lived frame would show up in tracebacks.
        _set_secret(request, "Authorization", "Bearer ", self._token(), "no_usable_token")
        if operation.needs_licence:
            _set_secret(request, "License-Key", "", self._licence_key() or "", "no_licence_key")

    def _notify_observer(self, operation: Operation, response: httpx2.Response, error: ServiceError | None) -> None:
        if self._observe is None:
            return
        try:
            self._observe(operation, RateHeaders.read(response.headers), response.status_code, error)
        except Exception:
            logger.exception("The observer of %s failed; the answer stands", operation.name)


def _without_credentials(request: httpx2.Request, content: bytes) -> bytes:
    """Return the body of an error without our credentials.

    A service may repeat what it was sent, and errors are stored and shown.
    """
    for header, prefix in (("Authorization", "Bearer "), ("License-Key", "")):
        secret = request.headers.get(header, "").removeprefix(prefix)
        if secret:
            content = content.replace(secret.encode(), b"***")
    return content


def _set_secret(request: httpx2.Request, header: str, prefix: str, secret: str, missing: str) -> None:
    if not encoding.is_header_value(secret):
        raise NotSent(missing)
    request.headers[header] = prefix + secret
