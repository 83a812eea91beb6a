"""The project's own modules, parsed once per process for all tests that examine them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from stack.paths import ROOT


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def modules(*packages: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield every module of these packages with its syntax tree."""
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path, _tree(path)
