"""Check whether a service keeps to the specification: `python -m tests.contract`. See docs/contract.md."""

import argparse
import json
import signal
import sys
from pathlib import Path
from types import FrameType

from accessapi import overrides
from accessapi.client import validate_base_url
from tests.contract import credentials
from tests.contract.lab import Lab
from tests.contract.outcomes import Unreachable
from tests.contract.runner import EVERYTHING, Unusable, run


def main() -> int:
    """Return 0 when nothing differs, 1 when something does, 2 when it cannot run, 130 when it was interrupted.

    An interrupted run deletes what it made.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.contract", description=__doc__)
    parser.add_argument("--base-url", required=True, help="where the service is, http(s)://host[:port][/path]")
    parser.add_argument("--credentials", required=True, metavar="FILE", help="TOML: tenants and an OAuth client")
    parser.add_argument("--operations", default="", metavar="FILE", help="TOML: other methods, paths and shapes")
    parser.add_argument("--only", default="", metavar="NUMBERS", help="operations to try, for example 4,6,13-15")
    parser.add_argument("--json", default="", metavar="FILE", help="where to write the report as JSON, too")
    options = parser.parse_args()
    try:
        return _run(options)
    except (Unusable, ValueError, OSError) as error:
        return _stop(str(error))
    except Unreachable as error:
        return _stop(f"nobody answers at {options.base_url} ({error})")
    except KeyboardInterrupt:
        print("Interrupted. What was made has been taken away.", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    if not options.base_url or not options.credentials:
        raise ValueError("needs the address of the service and a credentials file: BASE_URL=… CREDENTIALS=file.toml")
    base_url = validate_base_url(options.base_url)
    given = credentials.load(Path(options.credentials))
    catalogue = overrides.Catalogue(overrides.load_overrides(Path(options.operations) if options.operations else None))
    only = numbers(options.only) if options.only else EVERYTHING
    signal.signal(signal.SIGTERM, _interrupt)
    report = run(Lab(base_url, given, catalogue), only=only, say=_say)
    print(report.text())
    if options.json:
        text = json.dumps(report.json(), ensure_ascii=False, indent=2)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    return report.exit_status


def numbers(text: str) -> frozenset[int]:
    """Return the operations in a list such as 4,6,13-15. Raises ValueError."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"--only: {part!r} is no number of an operation")
        found |= set(range(int(first), int(last or first) + 1))
    if strange := found - EVERYTHING:
        raise ValueError(f"--only: there is no operation {min(strange)}")
    return frozenset(found)


def _say(text: str) -> None:
    if text == "Cleaning up":
        # Cleaning up is not interrupted: otherwise a person would have to find and delete the rest by hand.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="\n" if text == "Cleaning up" else "", file=sys.stderr, flush=True)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _stop(text: str) -> int:
    print(f"contract: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
