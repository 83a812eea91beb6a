"""The contrary sandbox: a service that decides the other way wherever the specification is silent.

`SERVICE=contrary` puts it in the place of the usual one for all tests that take the sandbox as it is given to them.
"""

import os

from accessapi.overrides import Catalogue, load
from stack.paths import ROOT

#: Text of the overrides file that a portal needs for it.
OVERRIDES = (ROOT / "sandbox" / "contrary.toml").read_text(encoding="utf-8")


def wanted() -> bool:
    """Whether this run is to be against the contrary service."""
    return os.environ.get("SERVICE") == "contrary"


def catalogue(overrides: str) -> Catalogue:
    """The table of operations under the text of an overrides file."""
    return Catalogue(load(overrides))
