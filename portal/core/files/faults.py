"""Why a file cannot be used, as stable words that `portal.imports.words` explains."""

from typing import Any


class FileFault(Exception):
    """Nothing of the file was taken over. `word` says why; `facts` go into the sentence (never a value of the file)."""

    def __init__(self, word: str, **facts: Any) -> None:
        super().__init__(word)
        self.word = word
        self.facts = facts
