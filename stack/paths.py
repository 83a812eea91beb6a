"""Folders: the checkout, its short-lived state, and the demonstration's."""

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN = ROOT / ".run"
DEMO = ROOT / ".demo"
PYTHON = sys.executable


def private_folder(path: Path) -> Path:
    """Create `path`, readable only by its owner, and return it."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def write_private(path: Path, text: str) -> None:
    """Write `text` to a file that others can never read, not even for a moment."""
    # A separate name for each process: two launchers may start in one checkout.
    number, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(number, "w") as file:
        file.write(text)
    os.replace(beside, path)


def wheel(package: str) -> Path:
    """Return the folder of an installed package, found without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed: run `make demo` or `make test`, which install it")
    return Path(spec.origin).parent
