"""Settings for every test: no network except the loopback, and no process that outlives the run."""

import ctypes
import faulthandler
import gc
import ipaddress
import os
import signal
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest import runner
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from accessapi.stack_memory import with_stack_memory
from tests.support import databases, durations
from tests.support.effort import SOAK, examples

# Generated examples are the same in every run, so that results are stable. `make soak` generates more and different
# ones.
settings.register_profile(
    "project",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=not SOAK,
    max_examples=examples(100, quick=30),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

#: Attacks on a running site of real processes, which `make promises` runs. Those marked `quick` are part of `make
#: journeys`.
ATTACKS = "tests/promises/"
#: Tests that read most pages or addresses of the site, some of them many times, also run by `make promises`. They need
#: no running site.
WALKS = "tests/walks/"
#: Other tests of `make journeys`: those with one of these fixtures (the running site, a browser), and those of the
#: launcher and of the service: the sandbox, what is loaded and what it notifies.
JOURNEYS = frozenset({"_house", "open_tab"})
CONNECTION = ("contract", "sandbox", "stack", "sync", "webhooks")
#: Folders whose tests share one running site; they begin first.
LONG = ("tests/journey/", ATTACKS)
#: Tests that examine the project's own modules.
SOURCES = "tests/guards/"
_HOUSE = "house"
#: Tests that share the contrary service, which is started for them once.
CONTRARY = (
    "tests/contract/test_another_service.py",
    "tests/contract/test_suite.py::test_the_sandbox_conforms_as_a_whole",
    "tests/webhooks/test_settings_another_service.py",
)
_watched = [float("-inf")]

pytest_plugins = ["tests.support.fixtures", "tests.support.customers"]

gc.disable()  # until all tests are loaded

_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
        raise RuntimeError(f"a test tried to reach {address[0]}: only the loopback address is allowed")
    _connect(self, address)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def pytest_configure(config: pytest.Config) -> None:
    socket.socket.connect = _loopback_only  # type: ignore[method-assign,assignment]
    if hasattr(config, "workerinput"):  # a worker of xdist ends with the process that started it
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)


@pytest.hookimpl(tryfirst=True)
@with_stack_memory
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Any:
    _watch(item.config)
    return runner.pytest_runtest_protocol(item, nextitem)


def _watch(config: pytest.Config) -> None:
    """Print the stack of a test that hangs, and end its process.

    Tests within a minute of each other share one watch. A watch is a thread, and pytest's own option starts and ends
    one for each test.
    """
    seconds, now = config.getoption("standstill"), time.monotonic()
    if seconds and now > _watched[0] + 60:
        _watched[0] = now
        faulthandler.dump_traceback_later(seconds, exit=True, file=config.stash[fault_handler_stderr_fd_key])


def pytest_collection_finish() -> None:
    """Exclude loaded objects from garbage collection, which took a tenth of a run."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 1_000)
    gc.enable()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """Create the tests' database as a copy of the run's migrated one, by the role that owns its tables."""
    from django.db import connection

    from tenants.postgresql.grants import as_owner

    connection.settings_dict["TEST"]["TEMPLATE"] = databases.template("portal")
    with as_owner():
        yield


def pytest_unconfigure(config: pytest.Config) -> None:
    """Drop the migrated databases at the end of a run that keeps no database.

    A run that only collects tests created none, and one beside it may need them.
    """
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    if os.environ.get("DATABASE_URL") and not config.getoption("reuse_db", False):
        databases.forget()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("portal")
    group.addoption("--standstill", type=int, default=0, help="seconds after which a test that hangs ends its process")
    group.addoption("--houses", type=int, default=1, help="sets of real processes that tests of a house are split over")
    group.addoption("--keep-durations", action="store_true", help="write down how long each file took, for the order")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spread tests over processes by file; long files by test.

    One process does the tests that need a running site and then ends, so that it does not slow the others down. With
    more `--houses`, so many processes have their own site, and any further process only walks. Tests of the contrary
    service also stay together, in any process.
    """
    from xdist.scheduler import LoadScopeScheduling

    houses = config.getoption("houses")

    class ByHouse(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            if houses == 1 and nodeid.startswith(LONG):
                return _HOUSE
            if nodeid.startswith(CONTRARY):
                return "contrary"
            path = nodeid.partition("::")[0]
            return SOURCES if path.startswith(SOURCES) else path  # one process parses all modules once

        def _assign_work_unit(self, node: Any) -> None:
            if houses > 1:
                queue = sorted(self.workqueue, key=lambda scope: scope.startswith(WALKS))
                if self.nodes.index(node) >= houses:
                    queue = [scope for scope in queue if scope.startswith(WALKS)]
                if not queue:
                    node.shutdown()
                    return
                self.workqueue.move_to_end(queue[0], last=False)
            super()._assign_work_unit(node)

        def _reschedule(self, node: Any) -> None:
            if _HOUSE not in self.assigned_work[node] or len(self.nodes) == 1:
                super()._reschedule(node)
            elif not node.shutting_down:
                node.shutdown()

    return ByHouse(config, log)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    durations.add(report.nodeid, report.duration)


def pytest_sessionfinish(session: pytest.Session) -> None:
    faulthandler.cancel_dump_traceback_later()
    gc.collect()
    gc.freeze()  # pytest collects six times more
    if session.config.getoption("keep_durations") and not hasattr(session.config, "workerinput"):
        durations.keep()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before marks decide what is run, but the order after all other plugins
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    for item in items:
        is_drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if SOAK and (is_drawn or item.get_closest_marker("share")):
            item.add_marker(pytest.mark.soak)
        if "open_tab" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            if not os.environ.get("CHROMIUM"):
                item.add_marker(pytest.mark.skip(reason="no Chromium was found"))
        if item.nodeid.startswith((ATTACKS, WALKS)) and not item.get_closest_marker("quick"):
            item.add_marker(pytest.mark.attack)
        elif JOURNEYS & {*getattr(item, "fixturenames", ())} or item.nodeid.split("/")[1] in CONNECTION:
            item.add_marker(pytest.mark.journey)
    yield
    # The longest tests begin first, so that no process is left with one at the end.
    items.sort(key=lambda it: (not it.nodeid.startswith(LONG), -durations.of(it.nodeid.partition("::")[0]), it.path))
