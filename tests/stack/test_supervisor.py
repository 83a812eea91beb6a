"""The supervisor of the demonstration: ended programs are started again with a message, and all end in order."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from stack.processes import Server, spawn
from stack.programs import Program, Supervisor


def _program(tmp_path: Path, name: str, code: str, rank: int = 0) -> Program:
    log = tmp_path / f"{name}.log"

    def start() -> Server:
        return spawn([sys.executable, "-u", "-c", code], log=log)

    return Program(name, start, rank, log)


def _look_until(supervisor: Supervisor, seconds: float, done: object) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (callable(done) and done()):
        supervisor.check_programs()
        time.sleep(0.02)


def test_a_killed_program_is_started_again_and_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = _program(tmp_path, "clock", "print('up'); import time; time.sleep(100)")
    supervisor = Supervisor()
    supervisor.add(program)
    try:
        assert program.child is not None
        first = program.child.pid
        os.kill(first, signal.SIGKILL)
        _look_until(supervisor, 60, lambda: program.child is not None and program.child.pid != first)
        assert program.child is not None
        assert program.child.pid != first
        assert "clock ended with code -9; starting it again" in capsys.readouterr().out
    finally:
        supervisor.stop()
    assert program.child is None


def test_a_program_that_keeps_ending_is_given_up_with_its_log(tmp_path: Path) -> None:
    supervisor = Supervisor(pause=0.01)
    supervisor.add(_program(tmp_path, "broken", "raise SystemExit('no such setting')"))
    try:
        with pytest.raises(SystemExit, match="no such setting"):
            _look_until(supervisor, 60, None)
    finally:
        supervisor.stop()


def test_programs_end_rank_by_rank_and_are_told_once(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    code = (
        "import signal, sys, time\n"
        f"def end(*_):\n    open({str(ended)!r}, 'a').write(NAME + ' ')\n    time.sleep(TAKES)\n    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\nprint('up')\ntime.sleep(100)"
    )
    supervisor = Supervisor()
    # The worker is still ending when the web process, stopped at the same time, has ended.
    for name, rank, takes in (("database", 2, 0), ("web", 1, 0.2), ("worker", 1, 0.6), ("clock", 0, 0)):
        supervisor.add(_program(tmp_path, name, f"NAME, TAKES = {name!r}, {takes}\n{code}", rank))
    logs = [tmp_path / f"{each}.log" for each in ("database", "web", "worker", "clock")]
    _look_until(supervisor, 60, lambda: all("up" in log.read_text() for log in logs))
    supervisor.stop()
    first, *same, last = ended.read_text().split()
    assert (first, sorted(same), last) == ("clock", ["web", "worker"], "database")


def test_a_program_that_ignores_the_end_is_killed(tmp_path: Path) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up')\ntime.sleep(100)"
    program = _program(tmp_path, "deaf", code)
    supervisor = Supervisor()
    supervisor.add(program)
    _look_until(supervisor, 60, lambda: "up" in program.log.read_text())
    child = program.child
    started = time.monotonic()
    supervisor.stop(patience=0.5)
    assert time.monotonic() - started < 50
    assert child is not None
    assert child.returncode == -signal.SIGKILL


def test_an_interrupt_that_was_swallowed_comes_again() -> None:
    supervisor = Supervisor()
    with pytest.raises(KeyboardInterrupt):
        supervisor.interrupt(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        supervisor.check_programs()
