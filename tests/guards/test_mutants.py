"""The list of `make mutants` fits the code: every change can be made, and the tests that must notice it exist."""

import ast
from functools import cache

from tests.mutants.entry import ROOT
from tests.mutants.kept import MUTANTS


@cache
def source(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@cache
def named_in(name: str) -> set[str]:
    """Return the tests of a file as pytest names them, without their parameters."""
    found: set[str] = set()

    def walk(nodes: list[ast.stmt], above: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{above}{node.name}::")
            elif isinstance(node, ast.FunctionDef):
                found.add(f"{above}{node.name}")

    walk(ast.parse(source(name)).body, "")
    return found


def test_every_change_can_be_made_at_exactly_one_place():
    elsewhere = {
        f"{each.file}: {each.name}": count for each in MUTANTS if (count := source(each.file).count(each.text)) != 1
    }
    assert elsewhere == {}, "mend the texts in tests/mutants"
    assert [each.name for each in MUTANTS if each.text == each.instead] == []


def test_no_change_is_kept_twice():
    assert len({(each.file, each.text, each.instead) for each in MUTANTS}) == len(MUTANTS)
    assert len({each.name for each in MUTANTS}) == len(MUTANTS)


def test_every_change_names_quick_tests_that_exist():
    for each in MUTANTS:
        assert each.tests, each.name
        for test in each.tests:
            path, _, name = test.partition("[")[0].partition("::")
            assert name in named_in(path), f"{each.name}: there is no {test}"
