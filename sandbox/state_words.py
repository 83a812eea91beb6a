"""The overrides file's words for states and records that the specification does not define.

Internally, the sandbox uses its own words.
"""

from collections.abc import Iterable

from sandbox.catalogue import CATALOGUE

_STATES = CATALOGUE.states


def request_status(status: str) -> str:
    """Return the word for the status of a device request."""
    return _STATES.service_word(status, "device_request_running", "device_request_done", "device_request_failed")


def lock(state: str) -> str:
    """Return the word for the state of a lock."""
    return _STATES.service_word(state, "locked", "unlocked")


def leaf(state: str) -> str:
    """Return the word for a door that is open or closed."""
    return _STATES.service_word(state, "leaf_open", "leaf_closed")


def direction(of_door: str) -> str:
    """Return the word for a door's direction in its area."""
    return _STATES.service_word(of_door, "way_in", "way_out")


def key(state: str) -> str:
    """Return the word for a key: in its place (return), taken, or another one in its place (wrong)."""
    return _STATES.service_word(state, "key_in", "key_out", "key_wrong")


def errors(names: Iterable[str]) -> list[str]:
    """Return the words for errors of a door or of a key's place."""
    return [_STATES.service_word(name) for name in names]


def power(is_there: bool) -> str:
    """Return the word for a device with power, or without."""
    return _STATES.service_word("running", "powered") if is_there else "stopped"


def connection(is_there: bool) -> str:
    """Return the word for a device with a connection to the service, or without."""
    return _STATES.service_word("connected", "connected") if is_there else "disconnected"


def record_status(of_record: str) -> str:
    """Return the word for the status of a record."""
    return _STATES.service_word(of_record, "over")


def record_category(of_record: str) -> str:
    """Return the word for the category of a record."""
    return CATALOGUE.records.service_category(of_record)


def record_text(of_record: str) -> str:
    """Return the text of a record."""
    return _STATES.service_word(of_record)
