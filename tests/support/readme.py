"""README.md's section "Production" in a form that can be run: its code blocks with the placeholders replaced."""

import re
from collections.abc import Mapping

from stack.paths import ROOT

SECTION = (ROOT / "README.md").read_text().partition("\n## Production\n")[2].partition("\n## ")[0]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(language: str) -> list[str]:
    """Return the section's blocks in this language, in their order."""
    return [text for found, text in _BLOCK.findall(SECTION) if found == language]


def commands(block: str) -> list[str]:
    """Return the commands of a shell block; commands on several lines are joined."""
    return [line for line in block.replace("\\\n", "").splitlines() if line.strip()]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return the text with each placeholder replaced. Raises AssertionError where one is left."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    assert "…" not in text, f"a placeholder that the test does not know: {text}"
    return text
