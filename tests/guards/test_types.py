"""Each exception for the type checker has a reason beside it, in every strictly checked package."""

import re
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REASONED = re.compile(r"type: ignore\[[a-z, -]+\]  # \w")


def strict() -> list[str]:
    """Return the strictly checked packages: the sandbox by its own configuration, the rest by the project's."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    return ["sandbox", *(each.removesuffix(".*") for each in settings["overrides"][0]["module"])]


def test_every_ignored_type_error_has_its_reason():
    unexplained = []
    modules = (path for package in strict() for path in sorted((ROOT / package).rglob("*.py")))
    for path in (path for path in modules if b"type: ignore" in path.read_bytes()):
        with path.open("rb") as lines:
            for token in tokenize.tokenize(lines.readline):
                wrong = token.type == tokenize.COMMENT and "type: ignore" in token.string
                if wrong and not REASONED.search(token.string):
                    unexplained.append(f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}")
    assert unexplained == []
