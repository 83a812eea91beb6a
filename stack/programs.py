"""The programs of the site and of the sandbox, with their commands as in production, and keeping them running.

A supervisor reports when one ends, restarts it, and stops them all in order.
"""

import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from types import FrameType

from stack.paths import PYTHON, ROOT
from stack.processes import spawn, stop

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


class Programs:
    """A builder of programs with one environment and one folder of logs."""

    def __init__(self, env: Mapping[str, str], logs: Path) -> None:
        self._env = dict(env)
        self._logs = logs

    def web(self, port: int) -> Program:
        """Return the site: two processes of eight threads, each with a pool of database connections.

        Their parent process loads the code for both.
        """
        command = ["gunicorn", "portal.site.wsgi", "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"]
        command += ["--workers", "2", "--threads", "8", "--worker-tmp-dir", "/dev/shm"]  # noqa: S108 - as in production
        command += ["--no-control-socket", "--preload", "--graceful-timeout", "5"]
        # This signal ends it quickly, as its child processes must end with it.
        return self._program("web", command, 1, death_signal=signal.SIGQUIT, PORTAL_DB_POOL="1")

    def worker(self, name: str, queues: str, processes: int) -> Program:
        """Return a worker that listens to `queues`, names separated by commas."""
        command = ["celery", "-A", "portal.site", "worker", "-n", f"{name}@%h", "-Q", queues, "-c", str(processes)]
        command += ["--without-gossip", "--without-mingle", "--loglevel", "warning"]
        return self._program(f"worker {name}", command, 1)

    def beat(self, name: str = "beat") -> Program:
        """Return a scheduler of periodic tasks. Any number may run: only one is active."""
        return self._program(name, ["celery", "-A", "portal.site", "beat", "--loglevel", "warning"], 0)

    def sandbox(self, port: int) -> Program:
        """Return the service's development environment."""
        command = ["sandbox/manage.py", "serve", "--port", str(port)]
        return self._program("sandbox", command, 2, module=False, death_signal=signal.SIGTERM)

    def _program(
        self,
        name: str,
        command: list[str],
        rank: int,
        *,
        module: bool = True,
        death_signal: int = signal.SIGKILL,
        **more: str,
    ) -> Program:
        log = self._logs / f"{name.replace(' ', '-')}.log"

        def start() -> Popen[bytes]:
            return spawn(
                [PYTHON, *(["-m"] if module else []), *command],
                env=self._env | more,
                cwd=ROOT,
                log=log,
                death_signal=death_signal,
            )

        return Program(name, start, rank, log)
