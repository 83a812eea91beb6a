"""A production installation as README.md describes it, command by command, behind the proxies that it describes.

Its PostgreSQL, Valkey and environment are new: PATH, HOME and the variables of `portal.env`.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from stack import postgres, services, valkey
from stack.paths import PYTHON, ROOT, RUN
from stack.processes import Server, free_port, spawn, stop
from tests.support.mailbox import Mailbox
from tests.support.readme import blocks, commands, filled
from tests.support.receiver import Receiver

# Python's bytecode cache is shared: other processes of the run have filled it.
_OF_PYTHON = ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE")
OWNER, PASSWORD = "owner@example.com", "a long password of the owner"
#: Commands that are not run, and why.
LEFT_OUT = {"pip install --require-hashes -r requirements/base.txt": "the tests' own environment has these packages"}


class Installation:
    """The installation, used as a context manager. It runs at `url`; `said` holds the output of each command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: dict[str, str] = {}
        self.port, self._smtp = free_port(), Mailbox()
        self.url = f"http://127.0.0.1:{self.port}"
        self._cleanup = contextlib.ExitStack()
        self.values: dict[str, str] = {}

    def __enter__(self) -> Self:
        try:
            self._install()
        except BaseException:
            self._cleanup.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    def _install(self) -> None:
        settings, installing, processes, customer = blocks("sh")
        self.values = self._placeholders()
        (self.folder / "portal.env").write_text(filled(settings, self.values))
        for command in commands(installing):
            if command not in LEFT_OUT:
                self.run(command)
        for command in commands(processes):
            self.start(command)
        for command in commands(customer):
            self.run(command)

    def _placeholders(self) -> dict[str, str]:
        """Start the services. Return the value of each placeholder: passwords, ports, files, other machines."""
        owners, portals = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        accounts = {
            "portal_owner LOGIN PASSWORD '…'": f"portal_owner LOGIN PASSWORD '{owners}'",
            "portal LOGIN PASSWORD '…'": f"portal LOGIN PASSWORD '{portals}'",
            "portal_backup LOGIN BYPASSRLS PASSWORD '…'": "portal_backup LOGIN BYPASSRLS PASSWORD 'of backups'",
        }
        database = self._cleanup.enter_context(self._postgresql(accounts, owner=owners, site=portals))
        broker = valkey.running(self.folder / "valkey", log=self.folder / "valkey.log", durable=False)
        return accounts | {
            "portal:…@127.0.0.1:5432": f"portal:{portals}@127.0.0.1:{database}",
            "portal_owner:…@127.0.0.1:5432": f"portal_owner:{owners}@127.0.0.1:{database}",
            "redis://:…@127.0.0.1:6379/0": self._cleanup.enter_context(broker),
            "SECRET_KEY=…": f"SECRET_KEY={secrets.token_urlsafe(48)}",
            "VAULT_KEYS=k1:…": f"VAULT_KEYS=k1:{b64encode(secrets.token_bytes(32)).decode()}",
            "smtps://portal%40example.com:…@mail.example.com": self._cleanup.enter_context(self._smtp).url,
            "/var/lib/portal/evidence": str(self.folder / "evidence"),
            "127.0.0.1:8000": f"127.0.0.1:{self.port}",
            "--base-url https://…": f"--base-url {self._cleanup.enter_context(Receiver()).url}",
            "--client-id …": "--client-id portal",
            "secret.txt": self._file("secret", "a secret of the client"),
            "password.txt": self._file("password", PASSWORD),
        }

    @contextlib.contextmanager
    def _postgresql(self, accounts: dict[str, str], *, owner: str, site: str) -> Iterator[int]:
        """Run a server on which a superuser has run README's statements. Yield its port."""
        who = postgres.unprivileged_account()
        home = postgres.create_home(self.folder / "run", who)
        self._cleanup.callback(postgres.delete_home, self.folder / "run")
        template = postgres.create(postgres.create_home(RUN, who), services._TEMPLATE, who)
        cluster = postgres.copy(home, template, "cluster", who)
        emptied = [
            "DROP DATABASE portal",
            *(f"DROP ROLE {role}" for role in ("portal", "portal_owner", "portal_backup")),
        ]
        (statements,) = blocks("sql")
        created = filled(statements, accounts).splitlines()
        postgres._run_single_user(postgres.binaries(home, who), cluster, "postgres", [*emptied, *created], who)
        for role, password in {"portal": site, "portal_owner": owner}.items():
            (cluster / f"{role}.password").write_text(password)
        self._disk, port = cluster, free_port()
        self._boot = lambda: postgres.start(
            home, cluster, who, log=self.folder / "postgres.log", without_durability=False, port=port
        )[0]
        self._server = self._boot()
        try:
            yield port
        finally:
            stop(self._server)

    @contextlib.contextmanager
    def switched_off(self) -> Iterator[Path]:
        """Stop PostgreSQL during the block. Yield the folder of its data."""
        stop(self._server, signal.SIGINT)
        try:
            yield self._disk
        finally:
            self._server = self._boot()

    def _file(self, name: str, line: str) -> str:
        path = self.folder / name
        path.write_text(line + "\n")
        return str(path)

    def _shell(self, command: str) -> list[str]:
        return ["sh", "-c", f"set -a; . {self.folder / 'portal.env'}; set +a; {filled(command, self.values)}"]

    def _environment(self) -> dict[str, str]:
        # Static files go to a separate folder, so that those of the checkout do not change.
        ours = {"HOME": str(self.folder), "STATIC_ROOT": str(self.folder / "static"), "LANG": "C.UTF-8"}
        ours |= {name: os.environ[name] for name in _OF_PYTHON if name in os.environ}
        return ours | {"PATH": f"{Path(PYTHON).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(self, command: str) -> str:
        """Run a command to its end and return its output. Raises AssertionError with the output when it fails."""
        done = subprocess.run(
            self._shell(command), cwd=ROOT, env=self._environment(), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        self.said[command] = done.stdout
        return done.stdout

    def start(self, command: str) -> Server:
        """Start a process that keeps running. Its output is in `said_by`."""
        log = self.folder / f"process-{len(self.said)}.log"
        self.said[command] = str(log)
        child = spawn(self._shell(command), env=self._environment(), cwd=ROOT, log=log)
        self._cleanup.callback(stop, child)
        return child

    def said_by(self, words: str) -> str:
        """Return the output so far of the process whose command contains these words."""
        return "\n".join(Path(log).read_text() for command, log in self.said.items() if words in command)


def copy_disk(source: Path, target: Path) -> None:
    """Replace a PostgreSQL data folder by a copy of another, with the owners of its files."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-a", source, target], check=True)
