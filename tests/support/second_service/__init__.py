"""A second service with the same interface, small and in memory, that shares no code with the sandbox.

Where the specification leaves a choice it chooses differently, so that a suite which asserts too much raises a false
alarm here. `FLAWS` are single deviations from the specification, each of which a suite should notice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from tests.support.second_service import consent
from tests.support.second_service.answers import ROUTES
from tests.support.second_service.choices import Choices
from tests.support.second_service.flaws import FLAWS
from tests.support.second_service.house import CONTRACTS, House
from tests.support.second_service.pictures import FIELD
from tests.support.second_service.server import server
from tests.support.second_service.world import PREFIX, World

__all__ = ["CONTRACTS", "FLAWS", "SCOPES", "Elsewhere"]

#: Operations whose method and path the specification shows.
_SHOWN = frozenset({3, 4, 5, 11, 12, 16, 20, 21, 23, 24, 25, 26, 27, 28})
SCOPES = frozenset(route.scope for route in ROUTES.values() if route.scope)


class Elsewhere:
    """The running service: `with Elsewhere() as service: service.base_url`.

    `contracts` are those of its first tenant, `neighbours` those of others. `flaws` are names from FLAWS, `scopes` the
    scopes of its tokens. `oauth`, `mock_devices` and `cameras`: whether the credentials have them. Further arguments
    set `Choices`.
    """

    def __init__(
        self,
        contracts: Sequence[str] = CONTRACTS,
        flaws: Iterable[str] = (),
        *,
        scopes: frozenset[str] = SCOPES,
        oauth: bool = True,
        mock_devices: bool = True,
        cameras: bool = True,
        neighbours: Sequence[Sequence[str]] = (),
        **choices: Any,
    ) -> None:
        named = frozenset(flaws)
        if strange := named - set(FLAWS):
            raise ValueError(f"no such flaw: {min(strange)}")
        chosen = Choices(**choices)
        all_of_them = (contracts, *neighbours)
        houses = [House(n, tuple(each), furnished=chosen.furnished) for n, each in enumerate(all_of_them, 170)]
        self.house = houses[0]
        for number in range(chosen.crowd):
            self.house.add_member(member_name=f"{number}", membergroup_id="組 1")
        if chosen.has_secret:
            for tenant in (self.house.tenant, self.house.tenant_at_first):
                tenant["settings"]["webhook"]["secret_token"] = "s" * 64
        self.world = World(houses, scopes, named, chosen)
        self._tables = {"oauth": oauth, "mock_devices": mock_devices, "cameras": cameras}
        self._tokens = [self.world.new_token(house) for house in houses]

    def __enter__(self) -> Elsewhere:
        self._server = server(self.world)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}{PREFIX}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def token(self) -> str:
        """Return the access token of its first tenant."""
        return self._tokens[0]

    @property
    def credentials(self) -> str:
        """Return the text of a credentials file."""
        rows = []
        for house, token in zip(self.world.houses, self._tokens, strict=True):
            rows += ["[[tenants]]", _line("access_token", token), _line("contracts", list(house.contracts))]
            if "licence" in house.contracts:
                rows.append(_line("license_key", house.licence_key))
                rows.append(_line("mock_devices", self._tables["mock_devices"]))
            if self._tables["cameras"]:
                rows.append(_line("cameras", house.cameras))
        if self._tables["oauth"]:
            given = {"client_id": consent.CLIENT, "client_secret": consent.SECRET, "code": consent.CODE}
            given["spare_code"] = consent.SPARE_CODE
            rows += ["[oauth]", *(_line(name, value) for name, value in given.items())]
            rows.append(_line("redirect_uri", consent.REDIRECT))
        return "\n".join(rows) + "\n"

    @property
    def overrides(self) -> str:
        """Return the text of an overrides file: every method, path, shape and state that differs in this service."""
        rows = []
        for number, route in sorted(ROUTES.items()):
            if number not in _SHOWN:
                rows += [f"[operations.o{number}]", f"number = {number}"]
                rows += [_line("method", route.method), _line("path", route.path)]
        rows += ["[shapes]", "qr_removal = { remove = true }", 'image_body = "multipart"', _line("image_field", FIELD)]
        rows += [_line("history_fields", "")]
        rows += ['pass_list_key = "controllers"', 'snapshot = "base64"', "[states]"]
        rows += [_line(f"device_request_{name}", [word]) for name, word in _STATES.items()]
        rows += ["[errors]", *(_line(name, codes) for name, codes in _ERRORS.items()), "[errors.contract]"]
        rows += [_line(name, ["40211"]) for name in CONTRACTS if name != "licence"]
        return "\n".join(rows) + "\n"


_ERRORS = {"scope": ["40144"], "licence": ["40212", "40117"], "setting": ["40371", "40372"]}
_STATES = {"waiting": "queued", "running": "working", "done": "done*", "failed": "refused"}


def _line(name: str, value: Any) -> str:
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"
