"""The service as a whole: checks who may call what, and turns a request into an answer."""

from __future__ import annotations

import itertools
import json
import threading
import time
from email.message import Message
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.second_service import bulk, consent, groups, logs, people, pictures, places, visitors
from tests.support.second_service.answers import ROUTES, Answer, Call, Json, Refusal, Route
from tests.support.second_service.choices import Choices
from tests.support.second_service.flaws import FLAWS
from tests.support.second_service.house import House

PARTS = (bulk, groups, logs, people, pictures, places, visitors)
_MAPS = ("public_holiday", "include_date", "exclude_date")
#: The base address contains a path.
PREFIX = "/api.v9/~elsewhere"
#: Operations whose status of success is not 200.
_CREATED, _TAKEN = (4, 17, 20), (8, 13, 14, 15, 35, 36)
_UNGATED = {27: "boxes_without_contract"} | dict.fromkeys((19, 20), "guests_without_contract")
#: Limits of one hour: general calls and device calls.
_LIMITS = (720, 180)
_BODIES = (2, 4, 6, 11, 13, 14, 15, 17, 18, 20, 22, 35, 36)


class World:
    """Tenants, tokens and calls, in memory."""

    def __init__(self, houses: list[House], scopes: frozenset[str], flaws: frozenset[str], choices: Choices) -> None:
        self.houses, self.scopes, self.flaws, self.choices = houses, scopes, flaws, choices
        self.ghosts: list[Json] = []
        self.others = itertools.count(1)
        self.tokens: dict[str, House] = {}
        self.calls: dict[tuple[str, bool], int] = {}
        self.codes, self.used_codes = {consent.CODE, consent.SPARE_CODE}, dict[str, str]()
        self.opened: list[str] = []
        self.log: list[tuple[int, int]] = []
        self.lock = threading.Lock()
        self.counter = itertools.count()

    def new_token(self, house: House | None = None) -> str:
        token = consent.fresh()
        self.tokens[token] = house or self.houses[0]
        return token

    def answer(self, method: str, target: str, headers: Message, raw: bytes) -> Answer:
        """Return the answer to one request; never raises for anything that a caller can send."""
        split = urlsplit(target)
        if not split.path.startswith(PREFIX + "/"):
            return Answer(404, b"Nothing here")
        route_path = split.path.removeprefix(PREFIX)
        query = parse_qs(split.query, keep_blank_values=True)
        with self.lock:
            if route_path.startswith("/oauth2/"):
                return self._oauth(method, route_path, query, headers, raw)
            segments = [unquote(part) for part in route_path.strip("/").split("/")]
            for route in ROUTES.values():
                if (path := route.match(method, segments)) is not None:
                    answer = self._called(route, path, query, headers, raw)
                    answer.headers |= self._rates(route, headers)
                    self.log.append((route.number, answer.status))
                    return answer
        return Answer(404, b"<html><body>Nothing here</body></html>", "text/html")

    def _oauth(self, method: str, path: str, query: Any, headers: Message, raw: bytes) -> Answer:
        header = headers.get("AUTHORIZATIONS", "")
        if (method, path) == ("GET", "/oauth2/authorize"):
            number, answer = 37, consent.authorize(self, query)
        elif (method, path) == ("POST", "/oauth2/token"):
            number, answer = 38, consent.token(self, raw)
        elif (method, path) == ("POST", "/oauth2/update"):
            number, answer = 39, consent.update(self, raw, header)
        elif (method, path) == ("POST", "/oauth2/revoke"):
            number, answer = 40, consent.revoke(self, raw, header)
        else:
            return Answer(404, b"Nothing here")
        if answer.kind.startswith("application/json"):
            answer.body = json.dumps(self._after(number, json.loads(answer.body))).encode()
        self.log.append((number, answer.status))
        return answer

    def _called(self, route: Route, path: Any, query: Any, headers: Message, raw: bytes) -> Answer:
        try:
            house, token = self._admitted(route, headers)
            for request in list(house.requests.values()):
                request.advance(house)
            call = Call(self, route.number, path, query, headers, raw, house, token)
            if route.number in _BODIES:
                call.json = self._read(raw)
            self._forget(call)
            given = route.handler(call)
        except Refusal as refusal:
            return refusal.answer(self.flaws)
        if isinstance(given, Answer):
            return given
        given = self._after(route.number, json.loads(json.dumps(given)))
        if route.number != 2:
            given = wider(given)
        status = 201 if route.number in _CREATED else 202 if route.number in _TAKEN else 200
        return Answer(status, json.dumps(given, ensure_ascii=False).encode(), "application/vnd.elsewhere+json")

    def _admitted(self, route: Route, headers: Message) -> tuple[House, str]:
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        house = self.tokens.get(token) if scheme == "Bearer" else None
        if house is None and f"anybody_may_call_{route.number:02}" in self.flaws:
            house = self.houses[0]
        if house is None:
            raise Refusal(403, 40316, "this token is none of ours")
        self._count(route, token)
        if route.scope and route.scope not in self.scopes:
            raise Refusal(401, 40144, f"the token is not for {route.scope}")
        lacks = route.contract and route.contract not in house.contracts
        if lacks and _UNGATED.get(route.number) not in self.flaws:
            raise Refusal(402, 40211, f"{route.contract} is not under contract")
        if route.licence and "licence" not in house.contracts:
            raise Refusal(402, 40212, "there is no licence")
        free = route.number == 35 and "door_without_licence" in self.flaws
        if route.licence and headers.get("License-Key") != house.licence_key and not free:
            raise Refusal(401, 40117, "the licence key is wrong")
        return house, token

    def _count(self, route: Route, token: str) -> None:
        key = token, route.slow
        self.calls[key] = self.calls.get(key, 0) + 1
        if self.calls[key] > self.choices.calls_left[route.slow]:
            limit = _LIMITS[route.slow]
            if "limit_without_headers" in self.flaws:
                raise Refusal(429, 42900, "enough for this hour")
            rates = {"x-rate-limit-limit": str(limit), "x-rate-limit-remaining": "0", "x-rate-limit-reset": "3599"}
            raise Refusal(429, 42900, "enough for this hour", rates)

    def _rates(self, route: Route, headers: Message) -> dict[str, str]:
        if not self.choices.counts_aloud:
            return {}
        key = headers.get("Authorization", "")[7:], route.slow
        left = max(0, self.choices.calls_left[route.slow] - self.calls.get(key, 0))
        return {"X-RATE-LIMIT-LIMIT": str(_LIMITS[route.slow]), "X-RATE-LIMIT-REMAINING": str(left)}

    def _read(self, raw: bytes) -> Any:
        if len(raw) > 4 * 1024 * 1024:
            raise Refusal(413, 41301, "more than 4 MB")
        try:
            return json.loads(raw)
        except ValueError:
            raise Refusal(400, 40002, "no JSON") from None

    def _forget(self, call: Call) -> None:
        for name in self.flaws:
            if FLAWS[name].concerns[0] == call.number:
                for field in FLAWS[name].forgets:
                    call.query.pop(field, None)
                    if isinstance(call.json, dict):
                        call.json.pop(field, None)

    def _after(self, number: int, data: Any) -> Any:
        for name in self.flaws:
            after = FLAWS[name].after
            if after is not None and FLAWS[name].concerns[0] == number:
                data = after(data)
        return data

    def somebody_else(self, house: House) -> None:
        """Create a member now and then, as other users of the service would."""
        if self.choices.lively and house.groups and next(self.others) % 9 == 4:
            house.add_member(member_name="Change person", membergroup_id=next(iter(house.groups)))

    def slow_down(self) -> int:
        """Return the number of requests so far; now and then, wait a moment."""
        number = next(self.counter)
        if number % 200 == 150:
            time.sleep(0.05)
        return number


def wider(data: Any, name: str = "") -> Any:
    """Add an unknown field to each object, except maps by date."""
    if isinstance(data, list):
        return [wider(item, name) for item in data]
    if not isinstance(data, dict):
        return data
    inner: Json = {key: wider(value, key) for key, value in data.items()}
    return inner if name in _MAPS else {"zz_new": {"since": 2}, **inner}
