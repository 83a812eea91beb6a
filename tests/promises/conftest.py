"""The table of figures that long attacks print, and what the house said when one fails."""

import time
from collections.abc import Callable, Iterator

import pytest

from stack.paths import ROOT
from stack.supervisor import tail

FIGURES = ROOT / "test-results" / "soak.txt"


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`figure("unlock at most once", "arrivals per click, most", 1, "1")` adds a line to the table."""

    def add(promise: str, what: str, reached: object, must: str) -> None:
        line = f"{promise:28} {what:52} {reached!s:>14}   must be {must}"
        print(line)
        FIGURES.parent.mkdir(exist_ok=True)
        with FIGURES.open("a") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}\n")

    return add


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what the house's processes said meanwhile."""
    report = yield
    house = getattr(item, "funcargs", {}).get("house")
    if house is not None and report.failed:
        for path in sorted(house.folder.glob("*.log")):
            report.sections.append((path.name, tail(path, 15)[-6000:]))
    return report
