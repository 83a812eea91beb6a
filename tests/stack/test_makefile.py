"""Every target of the Makefile works in a fresh clone: it depends on what its recipe needs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stack.paths import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
RULES = dict(re.findall(r"^([a-z]+):(?! export)[ ]?(.*(?:\n\t.*)*)", MAKEFILE, re.MULTILINE))
# The programs of these create the browser's files and the translations.
MADE = ("--for-tests", "(STACK) test", "-m demo", "(STACK) assets")
# These start no site.
WITHOUT_A_SITE = {"contract", "check", "fix", "sandbox", "messages", "lock", "clean", "assets"}


@pytest.mark.parametrize("target", sorted(RULES))
def test_it_begins_with_what_it_needs(target: str) -> None:
    needs, _line, recipe = RULES[target].partition("\n")
    assert target == "clean" or "$(STAMP)" in needs.split()
    if target not in WITHOUT_A_SITE and not any(words in recipe for words in MADE):
        assert "assets" in needs.split()


def test_every_target_is_phony() -> None:
    [phony] = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == set(RULES)


@pytest.mark.parametrize("target", sorted(RULES))
def test_make_knows_all_that_it_depends_on(target: str, tmp_path: Path) -> None:
    for name in ("Makefile", "requirements"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    done = subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert target == "clean" or "Installing into .venv" in done.stdout
