"""What all cases share: the service, one House for each tenant, known facts, and what must be undone."""

import re
import time
from collections.abc import Callable
from typing import Any

from accessapi.client import Client
from accessapi.errors import InvalidRequest, ServiceError
from accessapi.operations import CallClass, Delivery, Operation
from accessapi.overrides import Catalogue
from accessapi.reading import RateHeaders
from tests.contract import shapes
from tests.contract.credentials import Credentials, Tenant
from tests.contract.memory import Memory
from tests.contract.outcomes import Differs, Limited, NotOffered, Unneeded
from tests.contract.things import Things
from tests.contract.wire import RawCall, Recorder, Reply

#: Calls of an hour that are reserved for cleaning up.
RESERVE = 30
#: Seconds to wait before a difference is checked again.
PAUSES = [1.0, 3.0]
#: Statuses of requests to addresses that the service does not have.
NO_ROUTE = (404, 405, 501)
#: Refusals that have the service's error body; others may come from a server in front of it.
_WORDED = (400, 403, 404, 409, 422)
UNKNOWN_ID = "contract-suite-unknown"
UNKNOWN_TOKEN = "contract-suite-unknown-token"


class Lab(Memory):
    """The service under test. `name` marks everything that this run creates."""

    def __init__(self, base_url: str, credentials: Credentials, catalogue: Catalogue) -> None:
        super().__init__()
        self.base_url = base_url
        self.credentials = credentials
        self.catalogue = catalogue
        self.recorder = Recorder(base_url)
        self.raw = RawCall(self.recorder, base_url, catalogue)
        self.secrets = set(credentials.secrets)
        self.worked: set[str] = set()
        self.houses = [House(self, tenant, number) for number, tenant in enumerate(credentials.tenants, 1)]
        self.oauth_token = ""
        self.oauth_old_tokens: list[str] = []
        self.revoked: set[str] = set()

    @property
    def calls(self) -> int:
        return self.recorder.calls

    def house_with(self, contracts: tuple[str, ...]) -> "House | None":
        """Return the tenant with the most contracts that has all of `contracts`; the first of several."""
        richest = sorted(self.houses, key=lambda house: -len(house.credentials.contracts))
        return next((house for house in richest if house.has(*contracts)), None)

    def another(self, operation: str, house: "House", *, having: str = "", lacking: str = "") -> "House":
        """Return the House of a different tenant, with or without a contract. Raises Unneeded when there is none."""
        for other in self.houses:
            fits = (not having or other.has(having)) and not (lacking and other.has(lacking))
            if fits and other is not house and house.tenant_id and other.tenant_id not in (None, house.tenant_id):
                return other
        wanted = f" with the contract {having}" if having else f" without the contract {lacking}" if lacking else ""
        raise Unneeded(operation, f"the credentials name no second tenant{wanted}")

    def secret(self, value: str) -> str:
        """Return `value`, and hide it in all reports."""
        self.secrets.add(value)
        return value

    def masked(self, text: str) -> str:
        """Return `text` without any secret of the credentials or of this run."""
        for secret in sorted(filter(None, self.secrets), key=len, reverse=True):
            # A short secret is replaced only as a separate word: it may be part of any other word.
            edge = r"(?<!\w)%s(?!\w)" if len(secret) < 8 else "%s"
            text = re.sub(edge % re.escape(secret), "***", text)
        return text


class House(Things):
    """The service as one tenant sees it. See Things for what cases need there, each created once."""

    def __init__(self, lab: Lab, credentials: Tenant, number: int) -> None:
        self.lab = lab
        self.credentials = credentials
        self.number = number
        self.cameras_seen: dict[str, bool] = {}
        self._limited: set[CallClass] = set()
        self._client = Client(
            base_url=lab.base_url,
            catalogue=lab.catalogue,
            token=lambda: credentials.access_token,
            licence_key=lambda: credentials.license_key or None,
            transport=lab.recorder,
        )
        super().__init__()

    def has(self, *contracts: str) -> bool:
        return all(name in self.credentials.contracts for name in contracts)

    def call(self, name: str, *, path: Any = None, query: Any = None, body: Any = None) -> Any:
        """Make a valid call; return the answer's JSON, whose shape is right.

        Raises Differs when it is refused, breaks or has another shape, NotOffered when there is no such route (unless
        it has worked before), and Limited.
        """
        return self.judged(name, self.reply(name, path=path, query=query, body=body))

    def judged(self, name: str, reply: Reply) -> Any:
        """Return the JSON of an answer to a valid call. Raises as `call`."""
        row = self.lab.catalogue.find(name)
        if not reply.fine:
            raise self._unfit(row, reply)
        self.lab.worked.add(name)
        data = reply.json
        if name == "update_webhook" and reply.content and not isinstance(data, dict):
            raise Differs(name, f"expected an empty object as its answer, got {shapes.kind(data)}")
        if found := shapes.faults(row, data):
            raise Differs(name, f"its answer differs in shape: {'; '.join(found[:3])}")
        return data

    def reply(self, name: str, *, path: Any = None, query: Any = None, body: Any = None) -> Reply:
        """Make a valid call; return any answer. A read that breaks, here or at the service, is made once more."""
        row = self.lab.catalogue.find(name)
        reply = self._once(row, path, query, body)
        if row.delivery is Delivery.READ and (
            not reply.status or (reply.status >= 500 and reply.status not in NO_ROUTE)
        ):
            time.sleep(PAUSES[0])
            reply = self._once(row, path, query, body)
        return reply

    def refused(self, name: str, what: str, *, worded: bool = True, token: str = "", **given: Any) -> Reply:
        """Make a call that the specification does not allow, `what` in words; accept any 4xx. Raises Differs, Limited.

        Takes path, query (pairs), body and licence_key. With `worded` the body must be the specified error.
        """
        row = self.lab.catalogue.find(name)
        if not token:
            self._check_limit(row)
        self.expects(name)
        if row.needs_licence and "licence_key" not in given:
            given["licence_key"] = self.credentials.license_key
        reply = self.lab.raw.api(name, token=token or self.credentials.access_token, **given)
        self._after(row, reply)
        if 400 <= reply.status <= 499:
            found = shapes.error_faults(reply.status, reply.json) if worded and reply.status in _WORDED else []
            if found:
                raise Differs(name, f"refusing {what} it answered HTTP {reply.status}, but {found[0]}")
            return reply
        raise Differs(name, f"expected a refusal of {what}, got {said(reply)}")

    def _once(self, row: Operation, path: Any, query: Any, body: Any) -> Reply:
        self._check_limit(row)
        self.expects(row.name)
        try:
            self._client.call(row.name, path=path, query=query, body=body)
        except InvalidRequest:
            raise
        except ServiceError:
            pass  # the recorded answer is judged instead
        reply = self.lab.recorder.last
        self._after(row, reply)
        return reply

    def _after(self, row: Operation, reply: Reply) -> None:
        if reply.status == 429:
            self._limited.add(row.call_class)
            for name in ("Limit", "Remaining", "Reset"):
                if f"X-Rate-Limit-{name}" not in reply.headers and not self.cleaning:
                    raise Differs(row.name, f"HTTP 429 comes without X-Rate-Limit-{name}")
            raise Limited(row.name, "rate limit reached")
        if reply.status:
            self._check_rate(row, reply)
        if reply.status:
            self.answered(row.name)
        if reply.fine:
            data = reply.json
            self.made(row.name, data)
            self._look_for_cameras(data)

    def _look_for_cameras(self, value: Any) -> None:
        """Collect cameras that an answer names, because no operation lists them."""
        if isinstance(value, dict):
            if isinstance(value.get("camera_id"), str):
                self.cameras_seen[value["camera_id"]] = True
            for each in value.values():
                self._look_for_cameras(each)
        elif isinstance(value, list):
            for each in value:
                self._look_for_cameras(each)

    def _check_limit(self, row: Operation) -> None:
        if row.call_class in self._limited and not self.cleaning:
            raise Limited(row.name, "rate limit reached")

    def _check_rate(self, row: Operation, reply: Reply) -> None:
        rate = RateHeaders.read(reply.headers)
        for name, value in (("X-Rate-Limit-Limit", rate.limit), ("X-Rate-Limit-Remaining", rate.remaining)):
            if value is None and reply.headers.get(name):
                raise Differs(row.name, f"{name}: expected a number, got {reply.headers[name][:20]!r}")
        if rate.limit is not None and rate.remaining is not None and rate.remaining > rate.limit:
            raise Differs(
                row.name,
                f"X-Rate-Limit-Remaining is {rate.remaining}, more than X-Rate-Limit-Limit {rate.limit}",
            )
        if rate.remaining is not None and rate.remaining < min(RESERVE, (rate.limit or 720) // 8):
            self._limited.add(row.call_class)

    def _unfit(self, row: Operation, reply: Reply) -> Exception:
        if reply.status in NO_ROUTE and row.name not in self.lab.worked:
            return NotOffered(row.name, f"{row.method} {row.path} answers HTTP {reply.status}")
        return Differs(row.name, f"expected an answer to a valid request, got {said(reply)}")


def said(reply: Reply) -> str:
    """Return an answer in a few words: its status, and its error code if it has one."""
    if not reply.status:
        return f"no answer ({reply.lost})"
    data = reply.json
    code = data.get("error_code") if isinstance(data, dict) else None
    detail = data.get("error_detail") if isinstance(data, dict) else None
    text = f"HTTP {reply.status}"
    if isinstance(code, str):
        text += f", code {code[:10]}"
    if isinstance(detail, str) and detail:
        text += f" ({detail[:120]})"
    return text


def patiently(check: Callable[[], str | None]) -> str | None:
    """Return the fault that `check` finds. Repeats it after a while, since others may change the same tenant."""
    found = check()
    for pause in PAUSES:
        if found is None:
            return None
        time.sleep(pause)
        found = check()
    return found
