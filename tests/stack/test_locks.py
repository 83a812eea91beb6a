"""Installed packages are pinned by hash, and no lock file names a package index."""

import json
import re
from pathlib import Path

import pytest

from stack.paths import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize(
    "path", [*LOCKS, ROOT / "package-lock.json", ROOT / "package.json"], ids=lambda each: each.name
)
def test_a_lock_names_no_host(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text
    assert not re.search(r"(?m)^\s*(-i|--index-url|--extra-index-url|--find-links|--trusted-host)\b", text)
    assert '"resolved"' not in text


@pytest.mark.parametrize("path", LOCKS, ids=lambda each: each.name)
def test_every_python_package_is_pinned_by_hash(path: Path) -> None:
    entries = [each for each in re.split(r"\n(?=\S)", path.read_text()) if each.strip()]
    assert entries
    for entry in entries:
        assert re.match(r"[A-Za-z0-9._-]+(\[[a-z,-]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_every_package_of_the_browser_is_pinned_by_hash() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert all(each.get("integrity", "").startswith("sha512-") for name, each in packages.items() if name)


def test_what_production_installs_is_part_of_what_is_tested() -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"(?m)^[^\s#]+==\S+", (ROOT / "requirements" / name).read_text()))

    assert pins("base.txt") <= pins("dev.txt")
