"""What an idle installation costs: the processor time of all of its processes over a minute."""

import os
import time
from pathlib import Path

from bench.figures import Figure
from bench.ground import Ground, say

_SECONDS = 60
_SETTLE = 20


def idle(ground: Ground) -> list[Figure]:
    """Measure the processor time of web, workers, beat, PostgreSQL, Valkey and the sandbox, in shares of one core."""
    say(f"nothing, for {_SECONDS} s")
    time.sleep(_SETTLE)
    before, started = _spent(), time.monotonic()
    time.sleep(_SECONDS)
    took, after = time.monotonic() - started, _spent()
    share = sum(after.values()) - sum(before.values())
    dearest = sorted(after, key=lambda name: before.get(name, 0) - after[name])[:4]
    note = ", ".join(f"{name} {100 * (after[name] - before.get(name, 0)) / took:.1f} %" for name in dearest)
    return [
        Figure(
            "idle, processor",
            f"{100 * share / took:.1f} %",
            note,
            share / took,
            ("<=", 0.04),
            'make bench ARGS="--only idle"',
        )
    ]


def _spent() -> dict[str, float]:
    """Return the seconds of processor time by program, for all processes that the launcher started except this one."""
    parents: dict[int, int] = {}
    processes: dict[int, tuple[str, float]] = {}
    for each in Path("/proc").glob("[0-9]*"):
        try:
            facts = (each / "stat").read_text().rpartition(")")[2].split()
            words = (each / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        parents[int(each.name)] = int(facts[1])
        ticks = sum(int(facts[number]) for number in (11, 12))
        processes[int(each.name)] = (_name(words), ticks / os.sysconf("SC_CLK_TCK"))
    spent: dict[str, float] = {}
    for pid, (name, seconds) in processes.items():
        if pid != os.getpid() and _descends(pid, os.getppid(), parents):
            spent[name] = spent.get(name, 0) + seconds
    return spent


def _descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == ancestor:
            return True
    return False


def _name(words: str) -> str:
    known = {"gunicorn": "web", " beat": "beat", "-n urgent": "urgent worker", "-n steady": "steady worker",
             "sandbox/manage.py": "sandbox", "postgres": "PostgreSQL", "valkey": "Valkey"}  # fmt: skip
    return next((name for part, name in known.items() if part in words), "other")
