"""The input and output of a call: requests, answers, refusals and the table of routes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tests.support.second_service.flaws import FLAWS

if TYPE_CHECKING:
    from tests.support.second_service.house import House
    from tests.support.second_service.world import World

Json = dict[str, Any]


@dataclass
class Answer:
    """An answer that is not simply an object in JSON."""

    status: int = 200
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """A refusal of the service: a status, a code of five digits and a sentence."""

    def __init__(self, status: int, code: int | str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.headers = status, str(code), detail, dict(headers or {})

    def answer(self, flaws: frozenset[str] = frozenset()) -> Answer:
        """Return the error body of the specification, with an additional field."""
        reason = HTTPStatus(self.status).phrase
        body = {"trace": "t-17", "error_detail": self.detail, "error_code": self.code, "message": reason}
        if "refusals_with_another_message" in flaws:
            body["message"] = "Oops"
        if "refusals_without_a_code" in flaws:
            del body["error_code"]
        if "codes_of_four_digits" in flaws:
            body["error_code"] = self.code[:4]
        if "refusals_in_html" in flaws:
            return Answer(self.status, f"<h1>{reason}</h1>".encode(), "text/html")
        return Answer(self.status, json.dumps(body).encode(), "application/json", self.headers)


@dataclass
class Call:
    """One request to one operation of one tenant, with the flaws of this service."""

    world: World
    number: int
    path: dict[str, str]
    query: dict[str, list[str]]
    headers: Message
    raw: bytes
    house: House
    token: str = ""
    json: Any = None

    def has(self, flaw: str) -> bool:
        return flaw in self.world.flaws

    def unchecked(self, name: str) -> bool:
        """Check whether a flaw accepts any value of this field at this operation."""
        return any(
            flaw in self.world.flaws and name in FLAWS[flaw].unchecked and self.number == FLAWS[flaw].concerns[0]
            for flaw in self.world.flaws
        )

    def most(self, limit: int, flaw: str) -> int:
        """Return a limit, reduced by one if the flaw is set."""
        return limit - 1 if self.has(flaw) else limit

    def asked(self, name: str, default: str = "") -> str:
        """Return one parameter of the query; refuse it if it is given twice."""
        values = self.query.get(name, [default])
        if len(values) > 1:
            raise Refusal(400, 40002, f"{name} is given twice")
        return values[0]


Handler = Callable[[Call], "Json | Answer"]


@dataclass(frozen=True)
class Route:
    """The address of one operation, and what a caller needs to use it."""

    number: int
    method: str
    path: str
    handler: Handler
    scope: str = ""
    contract: str = ""
    licence: bool = False
    slow: bool = False

    def match(self, method: str, segments: list[str]) -> dict[str, str] | None:
        """Return the path parameters if the decoded segments match this route, else None."""
        wanted = self.path.strip("/").split("/")
        if method != self.method or len(wanted) != len(segments):
            return None
        found: dict[str, str] = {}
        for want, segment in zip(wanted, segments, strict=True):
            if name := re.fullmatch(r"\{(\w+)\}", want):
                found[name[1]] = segment
            elif want != segment:
                return None
        return found


ROUTES: dict[int, Route] = {}


def route(number: int, method: str, path: str, scope: str = "", **more: Any) -> Callable[[Handler], Handler]:
    """Return a decorator that adds the handler to the table."""

    def add(handler: Handler) -> Handler:
        ROUTES[number] = Route(number, method, path, handler, scope, **more)
        return handler

    return add
