"""The web server as a process: its parent, which loads the site for its workers, and its headers."""

import os
import re
from pathlib import Path

import httpx2

from tests.support.house import House


def test_nothing_is_opened_or_begun_before_the_workers_are_forked(house: House) -> None:
    """Check the parent process: workers would share its connections, and have none of its threads."""
    assert house.web.child
    parent = Path(f"/proc/{house.web.child.pid}")
    sockets = [each for each in (parent / "fd").iterdir() if os.readlink(each).startswith("socket:")]
    assert (len(list((parent / "task").iterdir())), len(sockets)) == (1, 1)


def test_no_header_says_which_version_of_what_answers(house: House) -> None:
    for path in ("/accounts/login/", "/healthz", "/nothing/"):
        headers = httpx2.get(f"{house.url}{path}").headers
        assert not re.search(r"\d", headers["server"]), headers["server"]
        assert not {"x-powered-by", "via", "x-generator"} & set(headers)
