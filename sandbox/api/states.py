"""Words for states where the specification has none, as the overrides file states them. Inside, the sandbox keeps its
own.
"""

from collections.abc import Iterable

from sandbox.catalogue import CATALOGUE

_STATES = CATALOGUE.states
_REQUESTS = {
    "progress": _STATES.device_request_running,
    "succeeded": _STATES.device_request_done,
    "failed": _STATES.device_request_failed,
    "timeout": _STATES.device_request_failed,
}
_LOCKS = {"lock": _STATES.locked, "unlock": _STATES.unlocked}


def _word(usual: str, patterns: Iterable[str]) -> str:
    """Return the usual word if it is among `patterns`, else the first of them without its wildcard."""
    known = list(patterns)
    return usual if usual in known or not known else known[0].rstrip("*")


def request(status: str) -> str:
    """Return the word for the status of a device request."""
    return _word(status, _REQUESTS[status])


def lock(state: str) -> str:
    """Return the word for the state of a lock."""
    return _word(state, _LOCKS[state])
