"""Child processes that cannot outlive the launcher, however it ends.

There are three safeguards. The launcher stops its children in order. The kernel signals each child when the launcher
dies (PR_SET_PDEATHSIG). A process that waits for the launcher's end (`ProcessReaper`) kills what is left of their
process groups a few seconds later. The kernel's signal depends on the thread that starts a child: start children from
the main thread.
"""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, TypeVar

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_GRACE_SECONDS = 3.0
Started = TypeVar("Started")
Server = subprocess.Popen[bytes]


def die_with_parent(death_signal: int, parent: int) -> None:
    """Request `death_signal` from the kernel for the end of the process `parent`; exit at once if it has ended.

    A change of user clears this, so call it afterwards.
    """
    if _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        os._exit(1)


@dataclass(frozen=True)
class Account:
    """The unprivileged account under which a child runs."""

    uid: int
    gid: int


def spawn(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | IO[bytes] | None = None,
    death_signal: int = signal.SIGKILL,
    account: Account | None = None,
    foreground: bool = False,
) -> subprocess.Popen[bytes]:
    """Start `command` as a child of this process. Its output is appended to `log`; None shows it.

    `foreground` keeps it on our terminal, with its interrupts; other children get a separate session.
    """
    parent = os.getpid()

    def tie_to_parent() -> None:  # runs in the child, after the change of user
        die_with_parent(death_signal, parent)

    with contextlib.ExitStack() as stack:
        output = stack.enter_context(log.open("ab")) if isinstance(log, Path) else log
        child = subprocess.Popen(
            [str(part) for part in command],
            env=None if env is None else dict(env),
            cwd=cwd,
            stdin=None if foreground else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=not foreground,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            preexec_fn=tie_to_parent,
        )
    reaper.register(child.pid, group=not foreground)
    return child


def stop(child: subprocess.Popen[bytes], first_signal: int | None = signal.SIGTERM, patience: float = 10.0) -> None:
    """End a child and its process group: `first_signal`, then SIGKILL after `patience` seconds. Safe to repeat.

    `first_signal` is None for a child that was signalled already: many programs take a second signal as an order to
    hurry.
    """
    if child.poll() is None:
        if first_signal is not None:
            child.send_signal(first_signal)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
    _kill(child.pid, group=reaper.owns_group(child.pid))
    child.wait()
    reaper.unregister(child.pid)


def wait_until(ready: Callable[[], bool], *, what: str, child: subprocess.Popen[bytes], seconds: float) -> None:
    """Poll `ready` until it is true. Raises RuntimeError if `child` ends first, TimeoutError after `seconds`."""
    until = time.monotonic() + seconds
    while not ready():
        if child.poll() is not None:
            raise RuntimeError(f"{what} ended with code {child.returncode}")
        if time.monotonic() > until:
            raise TimeoutError(f"{what} was not ready after {seconds:.0f} s")
        time.sleep(0.02)


def free_port() -> int:
    """Return a TCP port of the loopback address that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def check_port_is_free(port: int, name: str) -> None:
    """Raise SystemExit if a program listens on this port. The message names `name`, which chooses another port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SystemExit(f"port {port} is not free ({error.strerror}): choose another by {name}=") from None


def start_with_retries(start: Callable[[], Started], log: Path) -> Started:
    """Call `start` until it succeeds, at most five times: another program may have taken the port."""
    for attempt in range(5):
        try:
            return start()
        except RuntimeError as error:
            if attempt == 4:
                raise RuntimeError(f"{error}\n{log.read_text(errors='replace')[-2000:]}") from error
    raise AssertionError("unreachable")


def _kill(pid: int, *, group: bool) -> bool:
    """Kill the process or group. Return False if it does not exist."""
    try:
        if group:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class ProcessReaper:
    """A process that outlives this one by seconds and kills the remaining registered children."""

    def __init__(self) -> None:
        self._pipe: int | None = None
        self._children: dict[int, bool] = {}

    def start(self) -> None:
        """Fork the process. Call this once, early, while this process has a single thread."""
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(writing)
            _reap(reading)
        os.close(reading)
        self._pipe = writing

    def register(self, pid: int, *, group: bool) -> None:
        self._children[pid] = group
        self._write(f"{'g' if group else 'p'}{pid}\n")

    def unregister(self, pid: int) -> None:
        if self._children.pop(pid, None) is not None:
            self._write(f"-{pid}\n")

    def owns_group(self, pid: int) -> bool:
        return self._children.get(pid, False)

    def _write(self, line: str) -> None:
        if self._pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, line.encode())


def _reap(reading: int) -> None:
    os.setsid()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # readers of the launcher's output must see its end when the launcher ends
        os.dup2(silence, stream)
    left: dict[int, bool] = {}
    with os.fdopen(reading) as lines:
        for line in lines:
            kind, pid = line[0], int(line[1:])
            if kind == "-":
                left.pop(pid, None)
            else:
                left[pid] = kind == "g"
    until = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < until and any(_is_alive(pid, group) for pid, group in left.items()):
        time.sleep(0.05)
    for pid, group in left.items():
        _kill(pid, group=group)
    os._exit(0)


def _is_alive(pid: int, group: bool) -> bool:
    try:
        if group:
            os.killpg(pid, 0)
        else:
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


reaper = ProcessReaper()


def begin_as_launcher() -> None:
    """Prepare this process to start others: it ends with the one that started it, and signals end it in order."""
    die_with_parent(signal.SIGTERM, os.getppid())
    signal.signal(signal.SIGTERM, _exit_on_signal)
    signal.signal(signal.SIGHUP, _exit_on_signal)
    reaper.start()


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
