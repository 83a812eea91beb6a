"""Sentences one after the other, as the language they are in is written."""

from collections.abc import Iterable

# After these there is room enough: a space would be one too many.
_WIDE = ("。", "」", "）", "！", "？")


def joined(parts: Iterable[object]) -> str:
    """Return the parts that say something, with a space between two of them unless the former ends full-width."""
    text = ""
    for part in map(str, filter(None, parts)):
        text += part if not text or text.endswith(_WIDE) else f" {part}"
    return text.strip()
