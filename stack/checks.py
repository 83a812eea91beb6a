"""`make check`: all checks that do not run the code. It changes nothing; `make fix` does."""

import os
import shutil
import subprocess
import sys
import time

from stack import messages
from stack.paths import PYTHON, ROOT
from stack.services import new_vault_key

# Production settings. Nothing here is secret and nothing connects: checks read only settings and models.
_PRODUCTION = {
    "DATABASE_URL": "postgresql://portal:none@127.0.0.1:1/portal",
    "SANDBOX_DATABASE_URL": "postgresql://portal:none@127.0.0.1:1/sandbox",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "only-for-the-check-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGH",
    "PORTAL_URL": "https://portal.example.com",
    "ALLOWED_HOSTS": "portal.example.com",
    "PORTAL_BEHIND_PROXY": "1",
    "EMAIL_URL": "smtp://mail.example.com:587",
}


def _tool(name: str) -> str:
    return shutil.which(name, path=os.path.dirname(PYTHON)) or name


def _djade() -> list[str]:
    """Return the formatter's command, without its templates."""
    return [_tool("djade"), "--target-version", "5.2"]


def _templates() -> list[str]:
    """Return the path of every template of the portal and of the sandbox."""
    folders = (ROOT / "templates", *ROOT.glob("sandbox/*/templates"))
    return sorted(str(path) for folder in folders for path in folder.rglob("*.*"))


def _deptry(folders: str, *files: str) -> list[str]:
    """Return deptry's command for `folders`; `files` are its options for the requirements files."""
    given = [each if each.startswith("-") else f"requirements/{each}.in" for each in files]
    return [_tool("deptry"), *folders.split(), "--config", "requirements/deptry.toml", "--no-ansi", *given]


def _steps() -> dict[str, list[str]]:
    return {
        "ruff check": [_tool("ruff"), "check", "--quiet", "."],
        "ruff format": [_tool("ruff"), "format", "--check", "--quiet", "."],
        "djade": [*_djade(), "--check", *_templates()],
        "mypy": [_tool("mypy"), "--no-error-summary", "accessapi", "tenants", "portal", "stack", "demo"],
        "mypy of the sandbox": [_tool("mypy"), "--no-error-summary", "--config-file", "sandbox/mypy.ini", "sandbox"],
        "import rules": [_tool("lint-imports"), "--no-cache"],
        "dependencies of the site": _deptry("accessapi tenants portal stack demo", "-rf", "base", "-rfd", "dev"),
        "dependencies of the rest": _deptry("accessapi tenants portal stack demo sandbox bench tests", "-rf", "dev"),
        "unused code": [PYTHON, "-m", "tests.unused"],
        "missing migrations": [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
        "missing migrations of the sandbox": [
            PYTHON,
            "sandbox/manage.py",
            "makemigrations",
            "--check",
            "--dry-run",
        ],
        "check --deploy": [
            PYTHON,
            "-W",
            "error",
            "manage.py",
            "check",
            "--deploy",
            "--fail-level",
            "WARNING",
        ],
    }


def check() -> int:
    """Run every check, and print failures and times. Return 1 if anything failed."""
    env = {**os.environ, **_PRODUCTION, "VAULT_KEYS": new_vault_key()}
    failed = []
    for name, command in _steps().items():
        started = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        _print_result(name, not done.returncode, time.monotonic() - started)
        if done.returncode:
            failed.append(name)
            sys.stdout.write(done.stdout + done.stderr)
    wrong = messages.check()
    _print_result("translations", not wrong, 0.0)
    if wrong:
        failed.append("translations")
        print("\n".join(wrong))
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "All checks passed.")
    return 1 if failed else 0


def fix() -> int:
    """Fix what ruff and djade can fix; return 1 if ruff reports remaining problems."""
    left = subprocess.run([_tool("ruff"), "check", "--fix", "."], cwd=ROOT).returncode
    subprocess.run([_tool("ruff"), "format", "."], cwd=ROOT)
    subprocess.run([*_djade(), *_templates()], cwd=ROOT)  # it returns 1 if it changed a file
    return left


def _print_result(name: str, passed: bool, seconds: float) -> None:
    print(f"{'ok    ' if passed else 'FAILED'} {name} ({seconds:.1f} s)", flush=True)
