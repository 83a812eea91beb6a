"""How far programs of the house grow, or the test's own process."""

import ctypes
import gc
import os
import re
from pathlib import Path

from tests.support.house import Process


class Memory:
    """How far a program of the house grows, in kilobytes: the one of its processes that grows most.

    Without any program it is the test's own process, which first gives back what it does not use.
    """

    def __init__(self, *programs: Process) -> None:
        self._pids = [pid for program in programs for pid in _processes(program)]
        if not programs:
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)
            self._pids = [os.getpid()]
        for pid in self._pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the highest so far is what it is now
        self._before = {pid: _peak(pid) for pid in self._pids}

    @property
    def growth(self) -> int:
        return max(_peak(pid) - before for pid, before in self._before.items())


def _processes(program: Process) -> list[int]:
    assert program.child is not None
    every = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())
    return [pid for pid in every if _group(pid) == program.child.pid]


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def _peak(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0
