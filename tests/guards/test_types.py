"""Each exception for the type checker has a reason beside it, in every strictly checked package."""

import io
import re
import tokenize
import tomllib

from stack.paths import ROOT
from tests.support.sources import sources

REASONED = re.compile(r"type: ignore\[[a-z, -]+\]  # \w")


def strict() -> list[str]:
    """Return the strictly checked packages: the sandbox by its own configuration, the rest by the project's."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    return ["sandbox", *(each.removesuffix(".*") for each in settings["overrides"][0]["module"])]


def test_every_ignored_type_error_has_its_reason():
    unexplained = []
    for module in (each for each in sources(*strict()) if "type: ignore" in each.text):
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            wrong = token.type == tokenize.COMMENT and "type: ignore" in token.string
            if wrong and not REASONED.search(token.string):
                unexplained.append(f"{module.name}:{token.start[0]}: {token.string}")
    assert unexplained == []
