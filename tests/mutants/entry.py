"""The form of an entry in the list of changes."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """One single change: in `file`, `text` (which occurs once) is replaced by `instead`; one of `tests` must fail."""

    name: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]

    def applied(self, source: str) -> str:
        """Return `source` with the change. Raises ValueError when its text is not there exactly once."""
        found = source.count(self.text)
        if found != 1:
            raise ValueError(f"the text occurs {found} times in {self.file}")
        return source.replace(self.text, self.instead)
