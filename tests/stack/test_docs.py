"""The documentation matches the code."""

from pathlib import Path

import pytest

from stack import docs

NAMES = ["configuration.md", "operations.md", "openapi.json", "service.md"]


@pytest.fixture(scope="module")
def made() -> dict[str, tuple[Path, str]]:
    return {path.name: (path, text) for path, text in docs.generate().items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_made_document_is_up_to_date(made: dict[str, tuple[Path, str]], name: str) -> None:
    path, text = made[name]
    assert path.read_text(encoding="utf-8") == text, "out of date: make docs"


def test_no_other_document_is_made(made: dict[str, tuple[Path, str]]) -> None:
    assert sorted(made) == sorted(NAMES)


def test_every_operation_tells_its_behaviour_and_its_cases(made: dict[str, tuple[Path, str]]) -> None:
    rows = [line.split(" | ") for line in made["service.md"][1].splitlines() if line[:3].strip("| ").isdigit()]
    assert [row[0] for row in rows] == [f"| {number}" for number in range(1, 41)]
    for row in rows:
        assert row[4].strip()
        assert not row[4].startswith("Not offered")
        assert row[5].startswith("· ")
