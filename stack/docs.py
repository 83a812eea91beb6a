"""`make docs`: the documents that are generated from code, each by the program that has its content."""

import os
import re
import subprocess
from pathlib import Path

from stack.paths import PYTHON, ROOT

# Nothing connects: the sandbox's program only has to start.
_ENVIRONMENT = {"SANDBOX_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "SANDBOX_OPERATIONS": ""}
_TABLE = re.compile(r"^\| # \| Operation \|.*?(?=\n(?!\|)|\Z)", re.MULTILINE | re.DOTALL)


def generate() -> dict[Path, str]:
    """Return every generated document with its current text."""
    operations = ROOT / "docs" / "operations.md"
    rows = _run("-m", "accessapi").rstrip("\n")
    cases = _run("-m", "tests.support.contract_cases")
    return {
        operations: _TABLE.sub(lambda _: rows, operations.read_text(encoding="utf-8")),
        ROOT / "docs" / "configuration.md": _run("-m", "portal.site.env"),
        ROOT / "docs" / "openapi.json": _run("-m", "accessapi", "openapi"),
        ROOT / "docs" / "service.md": _run("sandbox/manage.py", "describe", given=cases),
    }


def write() -> None:
    """Update every document and print which changed."""
    for path, text in generate().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"Written: {path.relative_to(ROOT)}")


def _run(*arguments: str, given: str = "") -> str:
    done = subprocess.run(
        [PYTHON, *arguments],
        cwd=ROOT,
        env={**os.environ, **_ENVIRONMENT},
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout
