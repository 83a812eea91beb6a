"""Run the tests, on temporary services."""

import os
import shutil
from collections.abc import Sequence

from stack.paths import PYTHON, RUN
from stack.services import run

_STALL_SECONDS = 900  # on a busy machine one journey takes long
# The first has no window to draw, so it needs a third less work than the others.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Return the browser for the journeys: CHROMIUM, or one on the path."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next((found for each in _BROWSERS if (found := shutil.which(each))), None)


#: Tests of `make test`, `make journeys` and `make promises`, and their number of processes. The first two have two more
#: than cores, since tests wait for processes, browsers and PostgreSQL a third of their time. The third process of the
#: promises walks over pages while attacks wait. tests/conftest.py decides which test is of which kind, and distributes
#: them.
_PROCESSES = str(min(os.cpu_count() or 1, 3) + 2)
KINDS = {
    "test": ["-m", "not soak and not attack and not journey", "-n", _PROCESSES],
    "journeys": ["-m", "journey and not attack and not soak", "-n", _PROCESSES],
    "promises": ["-m", "attack and not soak", "-n", "3", "--houses", "2"],
}


def test(arguments: Sequence[str], *, kind: str) -> int:
    """Run pytest with `arguments`, or also with those of a kind of tests; return its exit code."""
    chosen = list(arguments)
    if kind:
        chosen += [*KINDS[kind], "--no-loadscope-reorder", "--durations", "20"]
        chosen += ["--standstill", str(_STALL_SECONDS)]
    found = find_browser()
    os.environ["CHROMIUM"] = found or ""
    _keep_bytecode()
    os.environ.setdefault("PORTAL_STATIC", "none")
    os.environ.setdefault("PORTAL_SIGN_IN_RATE", "100000/m/ip")  # hundreds of people sign in from one address
    code = run([PYTHON, "-m", "pytest", *chosen], for_tests=True)
    if not found:
        print("No Chromium was found (on the path, or named by CHROMIUM): the browser tests were LEFT OUT.")
    return code


def _keep_bytecode() -> None:
    """Compile each module once for the dozens of processes of a run, even if Python must not write bytecode."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(RUN / "bytecode"))
