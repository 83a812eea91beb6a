"""Keep programs running: report when one ends, restart it, and stop them all in order."""

import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from stack.processes import stop

_MAX_ENDS = 6
_WITHIN_SECONDS = 60.0


@dataclass
class Program:
    """A supervised program. Programs with a lower `stop_order` are stopped first, equal ones together."""

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    stop_order: int
    log: Path
    stop_signal: int = signal.SIGTERM
    child: subprocess.Popen[bytes] | None = None
    retry_at: float = 0.0
    end_times: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_ENDS))


class Supervisor:
    """Programs in the order of their start. The pause before a program's restart doubles from `pause` s."""

    def __init__(self, pause: float = 0.2) -> None:
        self._programs: list[Program] = []
        self._pause = pause
        self._interrupted = False

    def add(self, program: Program) -> None:
        """Start the program and watch it from now on."""
        program.child = program.start()
        self._programs.append(program)

    def interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, for signal.signal; `check_programs` raises it again if it was suppressed."""
        self._interrupted = True
        raise KeyboardInterrupt

    def check_programs(self) -> None:
        """Restart programs that have ended. Raises SystemExit if a program ends again and again."""
        if self._interrupted:
            raise KeyboardInterrupt
        for program in self._programs:
            if program.child is not None and program.child.poll() is not None:
                self._ended(program, f"ended with code {program.child.returncode}")
            if program.child is None and time.monotonic() >= program.retry_at:
                try:
                    program.child = program.start()
                except (RuntimeError, TimeoutError, OSError) as error:
                    self._ended(program, f"did not start: {error}")

    def _ended(self, program: Program, how: str) -> None:
        if program.child is not None:
            stop(program.child)  # what is left of its process group
            program.child = None
        now = time.monotonic()
        program.end_times.append(now)
        print(f"{program.name} {how}; starting it again. Its log: {program.log}", flush=True)
        if len(program.end_times) == _MAX_ENDS and now - program.end_times[0] < _WITHIN_SECONDS:
            raise SystemExit(f"{program.name} keeps ending:\n{tail(program.log)}")
        program.retry_at = now + self._pause * 2 ** sum(now - each < _WITHIN_SECONDS for each in program.end_times)

    def stop(self, patience: float = 8.0, total_seconds: float = 20.0) -> None:
        """Stop all programs, one stop order after another, and all of one order at once. Safe to repeat.

        A program is killed if it has not ended after `patience` s, or after `total_seconds` s in total.
        """
        end = time.monotonic() + total_seconds
        for rank in sorted({program.stop_order for program in self._programs}):
            together = [each for each in self._programs if each.stop_order == rank and each.child is not None]
            for program in together:
                if program.child is not None and program.child.poll() is None:
                    program.child.send_signal(program.stop_signal)
            until = min(time.monotonic() + patience, end)
            for program in together:
                if program.child is not None:
                    stop(program.child, None, max(0.0, until - time.monotonic()))
                    program.child = None


def tail(log: Path, lines: int = 25) -> str:
    """Return the last lines of a log; empty without one."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""
