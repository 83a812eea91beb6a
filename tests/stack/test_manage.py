"""`make manage`: the site's commands use the database of the running demonstration, and only of a running one."""

import re
import stat
import subprocess
from pathlib import Path

import pytest

from demo import running
from stack.paths import ROOT
from tenants import roles


def test_what_a_demonstration_remembers_reaches_a_command_and_a_shell_unchanged(tmp_path: Path) -> None:
    env = {"DATABASE_URL": "postgresql://a:it's $x@/portal?host=/tmp/ä b", "SECRET_KEY": '"; echo', "HOME": "/nowhere"}
    running.save_environment(env, tmp_path)
    kept = tmp_path / "env"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert running.load_environment(tmp_path) == {name: env[name] for name in ("DATABASE_URL", "SECRET_KEY")}
    shown = subprocess.run(
        ["sh", "-c", '. "$0"; printf %s "$DATABASE_URL"', kept], capture_output=True, text=True, check=True
    )
    assert shown.stdout == env["DATABASE_URL"]


def test_without_a_demonstration_it_says_how_to_start_one(tmp_path: Path) -> None:
    running.save_environment({"SECRET_KEY": "x"}, tmp_path)
    running.delete_environment(tmp_path)
    with pytest.raises(SystemExit, match="make demo"):
        running.load_environment(tmp_path)


def test_a_command_takes_its_options_and_its_exit_code_comes_back(tmp_path: Path, capfd) -> None:
    running.save_environment({"SECRET_KEY": "of the demonstration"}, tmp_path)
    show = "from django.conf import settings; print(settings.SECRET_KEY)"
    assert running.manage(["shell", "--no-imports", "--command", show], tmp_path) == 0
    assert "of the demonstration" in capfd.readouterr().out
    assert running.manage(["no_such_command"], tmp_path) == 1


def test_the_readme_names_every_role() -> None:
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`([a-z ]+)`", text.partition("`--role` is ")[2].partition("without")[0]))
    assert named == {role.name for role in roles.ROLES}
