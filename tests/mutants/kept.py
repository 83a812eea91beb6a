"""The list of changes, from the files in this folder."""

import tomllib
from pathlib import Path

from tests.mutants.entry import Mutant


def _read(path: Path) -> list[Mutant]:
    with path.open("rb") as file:
        return [Mutant(**{**each, "tests": tuple(each["tests"])}) for each in tomllib.load(file)["mutant"]]


MUTANTS = [mutant for path in sorted(Path(__file__).parent.glob("*.toml")) for mutant in _read(path)]
