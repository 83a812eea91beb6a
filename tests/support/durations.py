"""How long each file of tests takes, as measured: longer ones begin first. `make durations` measures anew."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

_KEPT = Path(__file__).resolve().parents[1] / "durations.json"
_NEW = 1.0  # a file that was not measured yet
_measured: Counter[str] = Counter()


def of(path: str) -> float:
    """Return how many seconds this file took when it was measured."""
    return _all().get(path, _NEW)


def add(nodeid: str, seconds: float) -> None:
    """Count one phase of a test."""
    _measured[nodeid.partition("::")[0]] += seconds


def keep() -> None:
    """Write down what was measured in this run; other files keep their figures."""
    tests = _KEPT.parents[1]
    found = {path: round(seconds, 1) for path, seconds in (_all() | _measured).items() if (tests / path).exists()}
    _KEPT.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n")


@cache
def _all() -> dict[str, float]:
    return json.loads(_KEPT.read_text()) if _KEPT.exists() else {}
