"""The tests' migrated databases, stored as a cluster that each run copies.

Migrating takes seconds, copying a tenth of a second. The cluster's name is a digest of its sources.
"""

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

from stack import postgres
from stack.paths import PYTHON, ROOT
from stack.processes import Account, spawn, stop

#: Sites with migrations: the command, the variables with the database addresses of the program and of its owner, and
#: the folders.
MIGRATED_SITES = {
    "portal": ("manage.py", ("DATABASE_URL", "DATABASE_OWNER_URL"), ("tenants", "portal")),
    "sandbox": ("sandbox/manage.py", ("SANDBOX_DATABASE_URL", "SANDBOX_DATABASE_URL"), ("sandbox",)),
}
# Sources of the migrated database apart from migrations.
_GRANTS, _ROLES = ROOT / "tenants/database_grants.py", ROOT / "stack" / "postgres.py"
_MIGRATE = [PYTHON, "-m", "tests.support.databases"]
# Compiles all tests, which otherwise each process of a run would do.
_COMPILE = [PYTHON, "-m", "pytest", "--collect-only", "-q", "-q"]


def database_name(site: str) -> str:
    """Return the name of the migrated database of "portal" or "sandbox"."""
    return f"{site}_migrated_{_fingerprint(site)}"


def prepare_cluster(home: Path, template: Path, account: Account | None, env: dict[str, str]) -> Path:
    """Return the cluster of `home` with both databases; created from `template` if the migrations have changed."""
    kept = home / f"migrated-{database_name('portal')}-{database_name('sandbox')}"
    if not kept.is_dir():
        beside = postgres.copy(home, template, f"migrating.{os.getpid()}", account)
        try:
            _migrate(home, beside, account, env)
            former = list(home.glob("migrated-*"))
            beside.rename(kept)
            for each in former:
                shutil.rmtree(each, ignore_errors=True)
        except OSError:  # another run was quicker: use its cluster
            if not kept.is_dir():
                raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return kept


def _migrate(home: Path, made: Path, account: Account | None, env: dict[str, str]) -> None:
    log = home / f"{made.name}.log"
    try:
        with postgres.running(home, made, account, log=log, without_durability=True) as addresses:
            # Settings need a broker address; nothing connects.
            given = env | addresses | {"REDIS_URL": "redis://127.0.0.1:1/0"}
            children = [spawn(each, env=given, cwd=ROOT, log=log) for each in (_MIGRATE, _COMPILE)]
            try:
                if children[0].wait():
                    raise SystemExit(f"the tests' databases could not be migrated:\n{log.read_text(errors='replace')}")
                children[1].wait()  # the run reports problems of the tests again
            finally:
                for child in children:
                    stop(child)
    finally:
        log.unlink(missing_ok=True)


@cache
def _fingerprint(site: str) -> str:
    """Return a digest of the migrated database's sources: our migrations, grants and roles, and others' versions."""
    *_, folders = MIGRATED_SITES[site]
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("migrations/*.py"))
    told = hashlib.sha256()
    for path in (*files, _GRANTS, _ROLES, ROOT / "requirements" / "base.txt"):
        told.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return told.hexdigest()[:12]
