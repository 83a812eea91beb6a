"""Show the output of the site's processes when a promise test fails."""

from collections.abc import Iterator

import pytest

from stack.programs import tail


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add the output of the site's processes to the report of a failed test."""
    report = yield
    house = getattr(item, "funcargs", {}).get("house")
    if house is not None and report.failed:
        for path in sorted(house.folder.glob("*.log")):
            report.sections.append((path.name, tail(path, 15)[-6000:]))
    return report
