"""`make manage`: the site's own commands, on the database of the running demonstration."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.paths import DEMO, PYTHON, write_private
from stack.services import run_in_foreground

# Variables that a program needs to reach the demonstration's databases and to decrypt their secrets.
_VARIABLES = (
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "DATABASE_BACKUP_URL",
    "SANDBOX_DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SANDBOX_SECRET_KEY",
    "VAULT_KEYS",
    "PORTAL_URL",
    "ALLOWED_HOSTS",
    "EMAIL_URL",
    "PORTAL_REQUIRE_MFA",
    "PORTAL_INSECURE",
    "PORTAL_EVIDENCE_FILES",
)


def save_environment(env: Mapping[str, str], folder: Path = DEMO) -> None:
    """Save the environment of the demonstration in a private file that a shell can also read."""
    lines = [f"export {name}={shlex.quote(env[name])}\n" for name in _VARIABLES if name in env]
    write_private(folder / "env", "".join(lines))


def delete_environment(folder: Path = DEMO) -> None:
    """Delete the file: the demonstration and its services have ended."""
    (folder / "env").unlink(missing_ok=True)


def load_environment(folder: Path = DEMO) -> dict[str, str]:
    """Return the environment from `save_environment`. Raises SystemExit with advice if no demonstration runs."""
    try:
        text = (folder / "env").read_text()
    except FileNotFoundError:
        raise SystemExit("No demonstration is running from this folder: start it with `make demo`") from None
    return dict(word.split("=", 1) for word in shlex.split(text) if word != "export")


def manage(arguments: Sequence[str], folder: Path = DEMO) -> int:
    """Run `manage.py` with `arguments` in the foreground; return its exit code."""
    return run_in_foreground([PYTHON, "manage.py", *arguments], load_environment(folder))
