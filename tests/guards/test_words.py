"""Docstrings, comments and documents are written in plain English (docs/glossary-code.md has the names of the code)."""

import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterator

import pytest

from stack.paths import ROOT
from tests.support.sources import PACKAGES, Source, sources

#: Turns that a reader has to decode. Each has a plain word: a person, no one, anyone, while, automatically, record, …
TURNS = (
    "somebody", "nobody", "everybody", "whoever", "whatever", "whichever", "whom", "meanwhile", "told",
    "by (?:it|them)sel(?:f|ves)", "tell(?:s|ing)?", "stands?", "stood", "asked for", "known of", "otherwise than",
    "of (?:its|their|his|our) own", "comes? to", "sa(?:y|ys|id) of", "may enter",
)  # fmt: skip
FORBIDDEN = re.compile(rf"\b(?:{'|'.join(TURNS)})\b", re.IGNORECASE)
#: First words of subjects that do not name a change.
UNCLEAR_SUBJECT = re.compile(r"(?:Say|Tell|Have|Let|Lead|Word)\b")
#: Names of code, targets of links, and texts of screens that a document quotes.
QUOTED = re.compile(r"`[^`]*`|\]\([^)]*\)|“[^”]*”|\"[^\"]*\"|\*\*[^*]*\*\*")


def prose(module: Source) -> Iterator[tuple[int, str]]:
    """Yield each line of docstrings and comments of a module, with its number."""
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(module.tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and (text := ast.get_docstring(node, clean=False)):
            yield from enumerate(text.split("\n"), start=node.body[0].lineno)


def paragraphs(document: Source) -> Iterator[tuple[int, str]]:
    """Yield each line of a document outside of code blocks, without what it quotes."""
    in_code = False
    for number, line in enumerate(document.lines, start=1):
        in_code ^= line.startswith("```")
        if not in_code:
            yield number, QUOTED.sub("", line)


def documents() -> list[Source]:
    """Return the documents in English, those in the project's folder included."""
    found = [*map(Source, ROOT.glob("*.md")), *sources(*PACKAGES, "docs", suffix=".md")]
    return [each for each in found if not each.name.startswith("docs/guide/ja/")]


@pytest.mark.parametrize(
    ("files", "read"), [(sources(*PACKAGES), prose), (documents(), paragraphs)], ids=["code", "documents"]
)
def test_docstrings_comments_and_documents_use_common_words(files, read):
    found = [
        f"{each.name}:{number}: {turn[0]}"
        for each in files
        for number, line in read(each)
        for turn in FORBIDDEN.finditer(line)
    ]
    assert found == []


def test_sentences_of_the_architecture_are_short():
    text = re.sub(
        r"```.*?```|^\|[^\n]*", ".", (ROOT / "docs/architecture.md").read_text(encoding="utf-8"), flags=re.S | re.M
    )
    found = [
        each for each in re.split(r"(?<=[.!?:;])\s+|\s[-#]+\s|\s\d\.\s", QUOTED.sub("", text)) if len(each.split()) > 25
    ]
    assert found == []


def test_a_forbidden_turn_is_found():
    assert FORBIDDEN.search("What nobody uses goes.")
    assert not FORBIDDEN.search(QUOTED.sub("", "The button `take_over` is called “Tell the owner”."))


@pytest.mark.skipif(not shutil.which("git") or not (ROOT / ".git").exists(), reason="Subjects are read from Git.")
def test_subjects_of_commits_are_short_and_name_the_change():
    """Check commits since this rule was made; older ones cannot be changed."""
    log = subprocess.run(
        ["git", "log", "--no-merges", "--since=2026-11-28T19:20:00Z", "--format=%s"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [each for each in log.stdout.splitlines() if len(each) > 60 or UNCLEAR_SUBJECT.match(each)] == []


def test_an_unclear_subject_is_found():
    assert UNCLEAR_SUBJECT.match("Say of rights what they are")
    assert not UNCLEAR_SUBJECT.match("Sayings of rights")
