"""A copy of the project in which one change at a time is made and tried."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from tests.mutants.entry import ROOT, Mutant

_SECONDS = 300  # for the tests of one change; multiplied by the number of changes for the unchanged project
_TESTS_FAILED = 1
_NOT_GREEN = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:::\w+)+)", re.MULTILINE)
_MADE = ("static/vendor", "locale/ja/LC_MESSAGES/django.mo", ".venv", "node_modules")  # not tracked, but needed


@dataclass(frozen=True)
class Trial:
    """The result of a change: "killed", "survived", or the reason why it could not be tried."""

    mutant: Mutant
    outcome: str
    seconds: float
    said: str = ""


class Workshop:
    """A copy of the tracked files in a temporary folder, with its own database. Used as a context manager."""

    def __init__(self, number: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"mutants-{number}-"))
        self._keeps_database = False
        given = urlsplit(os.environ["DATABASE_URL"])
        self._env = os.environ | {
            "DATABASE_URL": urlunsplit(given._replace(path=f"/{self.folder.name.replace('-', '_')}")),
            "PORTAL_STATIC": "none",
            "PORTAL_SIGN_IN_RATE": "100000/m/ip",
        }
        for name in ("SOAK", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
            self._env.pop(name, None)

    def __enter__(self) -> "Workshop":
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        for name in _MADE:
            if (ROOT / name).exists():
                (self.folder / name).symlink_to((ROOT / name).resolve())
        self._ready = subprocess.Popen(
            [sys.executable, "tests/mutants/ready.py"], cwd=self.folder, env=self._env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._ready.stdin is not None
        assert self._ready.stdout is not None
        self._tell, self._hear = self._ready.stdin, self._ready.stdout
        return self

    def __exit__(self, *_: object) -> None:
        self._tell.close()
        self._ready.wait()
        self._hear.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def red(self, tests: Sequence[str]) -> set[str]:
        """Return those of these tests that fail on the unchanged project, without their parameters."""
        if not tests:
            return set()
        code, said = self._pytest(list(tests), seconds=_SECONDS * len(tests))
        if code == 0:
            return set()
        print(f"Without any change:\n{said}", flush=True)
        named = {found[1] for found in _NOT_GREEN.finditer(said)}
        return named if code == _TESTS_FAILED and named else {each.partition("[")[0] for each in tests}

    def try_out(self, mutant: Mutant) -> Trial:
        """Make the change, run its tests, and undo it."""
        began = time.monotonic()
        path = self.folder / mutant.file
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        try:
            changed = mutant.applied(source)
        except ValueError as wrong:
            return Trial(mutant, "broken", 0, str(wrong))
        path.write_text(changed, encoding="utf-8")
        is_migration = path.parent.name == "migrations"  # first a database with the change, then one without it
        self._keeps_database &= not is_migration
        try:
            code, said = self._pytest(["-x", *mutant.tests], seconds=_SECONDS)
        finally:
            path.write_text(source, encoding="utf-8")
        self._keeps_database &= not is_migration
        outcome = {0: "survived", _TESTS_FAILED: "killed"}.get(code, "broken")
        return Trial(mutant, outcome, time.monotonic() - began, said)

    def _pytest(self, arguments: list[str], *, seconds: float) -> tuple[int, str]:
        fresh = [] if self._keeps_database else ["--create-db"]
        options = ["-q", "-p", "no:cacheprovider", "--assert=plain", "--reuse-db", *fresh]
        output = self.folder / ".pytest-output"
        self._tell.write(json.dumps({"arguments": [*options, *arguments], "output": str(output)}) + "\n")
        self._tell.flush()
        group = int(self._hear.readline())
        late = threading.Timer(seconds, os.killpg, [group, signal.SIGKILL])
        late.start()
        code = int(self._hear.readline())
        late.cancel()
        self._keeps_database = code >= 0  # otherwise it was killed, and the state of its database is unknown
        return code, output.read_text(errors="replace")[-4000:]
