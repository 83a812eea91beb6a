"""The web's parent, which loads the site for its workers."""

import os
from pathlib import Path

from tests.support.house import House


def test_nothing_is_opened_or_begun_before_the_workers_are_forked(house: House) -> None:
    """They would share its connections, and have none of its threads."""
    assert house.web.child
    parent = Path(f"/proc/{house.web.child.pid}")
    sockets = [each for each in (parent / "fd").iterdir() if os.readlink(each).startswith("socket:")]
    assert (len(list((parent / "task").iterdir())), len(sockets)) == (1, 1)
