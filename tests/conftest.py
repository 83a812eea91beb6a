"""For every test: no network but the loopback's, and no process that outlives the run."""

import ctypes
import gc
import ipaddress
import os
import signal
import socket
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import databases
from tests.support.effort import SOAK, examples

# What is drawn is the same in every run, so that one is as green as the other; `make soak` searches, and for longer.
settings.register_profile(
    "project",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=not SOAK,
    max_examples=examples(100, quick=30),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

#: Folders whose tests share one running house; they begin first.
LONG = ("tests/journey/", "tests/promises/")
_HOUSE = "house"

pytest_plugins = ["tests.support.fixtures"]

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


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through it for garbage again and again took a tenth of a run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """The tests' database begins as a copy of the run's migrated one."""
    from django.db import connection

    connection.settings_dict["TEST"]["TEMPLATE"] = databases.template("portal")


def pytest_unconfigure(config: pytest.Config) -> None:
    """At the end of a run that keeps no database, the migrated ones go."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker and os.environ.get("DATABASE_URL") and not config.getoption("reuse_db", False):
        databases.forget()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spread over processes: what needs a house is the work of one of them, everything else goes by files.

    There is one process more than cores, because tests with a house wait half of their time. When it is through with
    them it ends: it would only be in the others' way.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByHouse(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _HOUSE if nodeid.startswith(LONG) else nodeid.partition("::")[0]

        def _reschedule(self, node: Any) -> None:
            if _HOUSE not in self.assigned_work[node] or len(self.nodes) == 1:
                super()._reschedule(node)
            elif not node.shutting_down:
                node.shutdown()

    return ByHouse(config, log)


@pytest.hookimpl(tryfirst=True)  # before marks decide what is run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SOAK:
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker(pytest.mark.soak)
    for item in items:
        if "open_tab" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
    # What takes longest begins first, so that no process is left with it at the end: houses, browsers, long files.
    sizes = Counter(item.path for item in items)
    with_browser = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda it: (not it.nodeid.startswith(LONG), it.path not in with_browser, -sizes[it.path], it.path))
    if not os.environ.get("CHROMIUM"):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="no Chromium was found"))
