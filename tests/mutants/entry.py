"""What an entry of the kept list is."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """One single change: in `file`, `text` (which occurs there once) becomes `instead`; one of `tests` must fail."""

    name: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]

    def applied(self, source: str) -> str:
        """`source` with the change. ValueError when its text is not there exactly once."""
        found = source.count(self.text)
        if found != 1:
            raise ValueError(f"the text occurs {found} times in {self.file}")
        return source.replace(self.text, self.instead)
