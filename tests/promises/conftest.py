"""What the house said when an attack fails."""

from collections.abc import Iterator

import pytest

from stack.supervisor import tail


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what the house's processes said meanwhile."""
    report = yield
    house = getattr(item, "funcargs", {}).get("house")
    if house is not None and report.failed:
        for path in sorted(house.folder.glob("*.log")):
            report.sections.append((path.name, tail(path, 15)[-6000:]))
    return report
