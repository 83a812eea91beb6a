"""Measured seconds of each file of tests, so that longer ones begin first. `make durations` measures again."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

_KEPT = Path(__file__).resolve().parents[1] / "durations.json"
_NEW = 1.0  # for a file that was not measured yet
_measured: Counter[str] = Counter()


def of(path: str) -> float:
    """Return how many seconds this file took when it was measured."""
    return _all().get(path, _NEW)


def add(nodeid: str, seconds: float) -> None:
    """Add one phase of a test to its file's seconds."""
    _measured[nodeid.partition("::")[0]] += seconds


def keep() -> None:
    """Save the measurements of this run; other files keep their figures."""
    tests = _KEPT.parents[1]
    found = {path: round(seconds, 1) for path, seconds in (_all() | _measured).items() if (tests / path).exists()}
    _KEPT.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n")


@cache
def _all() -> dict[str, float]:
    return json.loads(_KEPT.read_text()) if _KEPT.exists() else {}
