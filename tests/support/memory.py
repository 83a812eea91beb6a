"""Memory growth of the site's programs, or of the test's own process."""

import ctypes
import gc
import os
import re
from pathlib import Path

from tests.support.house import Process


class Memory:
    """Memory growth of one program in kilobytes: the highest of its processes.

    Without a program it measures the test's own process, which first frees unused memory.
    """

    def __init__(self, *programs: Process) -> None:
        self._pids = [pid for program in programs for pid in _processes(program)]
        if not programs:
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)
            self._pids = [os.getpid()]
        for pid in self._pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets the peak to the current use
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
