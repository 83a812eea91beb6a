"""The glossary of the code names what is there, and each name once."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| [^|]+ \| `(\w+)` \| `([\w/.]+)` \|$", (ROOT / "docs/glossary-code.md").read_text(), re.M)


def defined_in(path: str) -> set[str]:
    """Return the functions, classes and type names that a module defines."""
    tree = ast.parse((ROOT / path).read_text())
    named = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    return named | {ast.unparse(each.targets[0]) for each in tree.body if isinstance(each, ast.Assign)}


def test_each_name_is_defined_in_its_file():
    assert len(ROWS) > 60
    assert [(name, path) for name, path in ROWS if name not in defined_in(path)] == []


def test_no_name_has_two_rows():
    assert [name for name, times in Counter(name for name, _path in ROWS).items() if times > 1] == []
