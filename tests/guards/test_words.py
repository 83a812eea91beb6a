"""Docstrings, comments and documents are written in plain English (docs/glossary-code.md has the names of the code)."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Turns that a reader has to decode. Each has a plain word: a person, no one, anyone, while, automatically, record, …
TURNS = (
    "somebody", "nobody", "everybody", "whoever", "whatever", "whichever", "whom", "meanwhile", "told",
    "by (?:it|them)sel(?:f|ves)", "tell(?:s|ing)?", "stands?", "stood", "asked for", "known of", "otherwise than",
    "of (?:its|their|his|our) own", "comes? to", "sa(?:y|ys|id) of", "may enter",
)  # fmt: skip
FORBIDDEN = re.compile(rf"\b(?:{'|'.join(TURNS)})\b", re.IGNORECASE)
#: Names of code, targets of links, and texts of screens that a document quotes.
QUOTED = re.compile(r"`[^`]*`|\]\([^)]*\)|“[^”]*”|\"[^\"]*\"|\*\*[^*]*\*\*")


def files(suffix: str) -> list[Path]:
    """Return the files of the repository with this suffix; not migrations, and not the Japanese guide."""
    command = ["git", "ls-files", f"*{suffix}"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    left_out = ("/migrations/", "docs/guide/ja/")
    return [ROOT / name for name in listed.split("\n") if name and not any(part in name for part in left_out)]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of docstrings and comments of a module, with its number."""
    source = path.read_text()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and (text := ast.get_docstring(node, clean=False)):
            yield from enumerate(text.split("\n"), start=node.body[0].lineno)


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of a document outside of code blocks, without what it quotes."""
    in_code = False
    for number, line in enumerate(path.read_text().split("\n"), start=1):
        in_code ^= line.startswith("```")
        if not in_code:
            yield number, QUOTED.sub("", line)


@pytest.mark.parametrize(("suffix", "read"), [(".py", prose), (".md", paragraphs)], ids=["code", "documents"])
def test_docstrings_comments_and_documents_use_common_words(suffix, read):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {turn[0]}"
        for path in files(suffix)
        for number, line in read(path)
        for turn in FORBIDDEN.finditer(line)
    ]
    assert found == []


def test_a_forbidden_turn_is_found():
    assert FORBIDDEN.search("What nobody uses goes.")
    assert not FORBIDDEN.search(QUOTED.sub("", "The button `take_over` is called “Tell the owner”."))
