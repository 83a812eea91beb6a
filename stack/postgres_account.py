"""The account and the folder in which PostgreSQL runs.

PostgreSQL refuses to run as root. If root starts it, it runs under an unprivileged account in a separate folder. This
is inside the checkout if that account has access to it, else in the machine's folder for temporary files. The launcher
never opens parent folders to all accounts.
"""

import os
import pwd
import shutil
import tempfile
from pathlib import Path

from stack.paths import private_folder, write_private
from stack.processes import Account

_OTHER_PARENTS = ("/var/tmp", "/tmp")  # noqa: S108 - only parents: each folder below has a random name and is private
_PREFIX = "access-portal-"


def unprivileged_account() -> Account | None:
    """Return the account to run under if this process is root; None if the current account is fine."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise SystemExit("root cannot run PostgreSQL, and there is no account `nobody` to run it under") from None
    return Account(entry.pw_uid, entry.pw_gid)


def is_reachable(path: Path) -> bool:
    """Return whether any account has access through every folder above `path`."""
    return all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def create_home(folder: Path, account: Account | None) -> Path:
    """Return a private folder of that account; `folder` keeps its address, so that the next start finds it."""
    private_folder(folder)
    if account is None:
        return folder
    if is_reachable(folder):
        folder.chmod(0o711)
        inside = private_folder(folder / "postgres")
        os.chown(inside, account.uid, account.gid)
        return inside
    return _home_elsewhere(folder, account)


def _home_elsewhere(folder: Path, account: Account) -> Path:
    _clear_abandoned()
    note = folder / "postgres.at"
    if note.exists() and (known := Path(note.read_text())).is_dir() and known.stat().st_uid == account.uid:
        return known
    parent = next(
        (Path(each) for each in _OTHER_PARENTS if Path(each).is_dir() and is_reachable(Path(each) / "x")), None
    )
    if parent is None:
        raise SystemExit(f"none of {', '.join(_OTHER_PARENTS)} can be entered by the account that runs PostgreSQL")
    made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    (made / "belongs-to").write_text(str(folder))
    os.chown(made, account.uid, account.gid)
    write_private(note, str(made))
    return made


def _clear_abandoned() -> None:
    """Delete the folders of checkouts that no longer exist."""
    for parent in _OTHER_PARENTS:
        for folder in Path(parent).glob(f"{_PREFIX}*"):
            owner = folder / "belongs-to"
            if owner.is_file() and owner.stat().st_uid == 0 and not Path(owner.read_text()).is_dir():
                shutil.rmtree(folder, ignore_errors=True)


def delete_home(folder: Path) -> None:
    """Delete `folder` and its data elsewhere."""
    note = folder / "postgres.at"
    if note.exists():
        shutil.rmtree(Path(note.read_text()), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
