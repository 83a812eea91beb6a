"""Words for states where the specification has none, as the overrides file states them. Inside, the sandbox keeps its
own.
"""

from sandbox.catalogue import CATALOGUE, word

_STATES = CATALOGUE.states
_REQUESTS = {
    "progress": _STATES.device_request_running,
    "succeeded": _STATES.device_request_done,
    "failed": _STATES.device_request_failed,
    "timeout": _STATES.device_request_failed,
}
_LOCKS = {"lock": _STATES.locked, "unlock": _STATES.unlocked}


def request(status: str) -> str:
    """Return the word for the status of a device request."""
    return word(status, _REQUESTS[status])


def lock(state: str) -> str:
    """Return the word for the state of a lock."""
    return word(state, _LOCKS[state])


def key(is_out: bool) -> str:
    """Return the word for a key that is out, or in its place."""
    return word("taken", _STATES.key_out) if is_out else word("return", _STATES.key_in)
