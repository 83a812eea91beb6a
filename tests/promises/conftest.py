"""One house for all promise tests of a run, and the table of figures that the long ones print."""

import time
from collections.abc import Callable, Iterator

import pytest
from kombu import pools

from portal.site.celery import app
from stack.paths import ROOT
from stack.supervisor import tail
from tests.support.house import House
from tests.support.stage import Stage

FIGURES = ROOT / "test-results" / "soak.txt"


@pytest.fixture(scope="session")
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with House(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture
def house(_house: House, django_db_blocker, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """The house, whole again; this process looks at its database and rings its bells."""
    monkeypatch.setenv("CELERY_BROKER_URL", _house.redis_url)
    _forget_broker()
    with django_db_blocker.unblock(), _house.database():
        _house.mend()
        yield _house
    _forget_broker()


def _forget_broker() -> None:
    pools.reset()
    app._pool = app.amqp._producer_pool = None


@pytest.fixture
def stage(house: House) -> Iterator[Stage]:
    """An environment of the service of its own, behind a proxy of its own."""
    with house.stage() as made:
        yield made


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
