"""Checks for running processes, to find any that are left over."""

import time
from pathlib import Path

#: A process: its number and its start time, since numbers are used again.
Process = tuple[int, str]


def below(pid: int) -> set[Process]:
    """Return every running descendant of the process `pid`."""
    children: dict[int, list[Process]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append((int(stat.parent.name), fields[19]))
    found: set[Process] = set()
    todo = [pid]
    while todo:
        of_one = children.get(todo.pop(), [])
        found |= set(of_one)
        todo += [each for each, _ in of_one]
    return found


def alive(process: Process) -> bool:
    """Check whether exactly this process still runs."""
    try:
        fields = Path(f"/proc/{process[0]}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] != "Z" and fields[19] == process[1]


def gone(processes: set[Process], seconds: float = 10) -> bool:
    """Check whether all of them end within that time."""
    until = time.monotonic() + seconds
    while any(alive(each) for each in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
