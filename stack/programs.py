"""The programs of the site and of the sandbox, and their commands, as in production."""

import signal
from collections.abc import Mapping
from pathlib import Path
from subprocess import Popen

from stack.paths import PYTHON, ROOT
from stack.processes import spawn
from stack.supervisor import Program


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
