"""The project's own files, each read and parsed once per process for all tests that examine them."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from stack.paths import ROOT

#: All folders with code of the project.
PACKAGES = ("accessapi", "tenants", "portal", "sandbox", "stack", "demo", "bench", "tests")


@dataclass(frozen=True)
class Source:
    """A file of the project. `name` is its path from the project's folder."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of a module."""
        return ast.parse(self.text)


@cache
def sources(*folders: str, suffix: str = ".py") -> list[Source]:
    """Return the files of these folders, in order, without migrations, which Django writes."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob(f"*{suffix}")))
    return [_source(path) for path in paths if "migrations" not in path.parts]


@cache
def _source(path: Path) -> Source:
    return Source(path)
