"""The commands of production are the same in README.md, the image, docker/compose.yaml and the launcher."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from portal.base.timers.celery_app import QUEUES
from portal.site.env import BY_NAME, DEVELOPMENT, GROUPS
from stack.paths import ROOT
from stack.programs import Programs
from tests.support.readme import blocks, commands

_PROCESSES = [shlex.split(command, comments=True) for command in commands(blocks("sh")[2])]


def _options(command: Sequence[str]) -> dict[str, str]:
    """Return the options of a command with their values, except those that depend on the machine."""
    words = list(command[command.index("portal.site.wsgi") + 1 :])
    found = {word: value for word, value in zip(words, [*words[1:], ""], strict=True) if word.startswith("--")}
    own = {"--bind", "--graceful-timeout"}
    return {word: "" if value.startswith("--") else value for word, value in found.items() if word not in own}


def _launched(kind: str) -> list[str]:
    """Return the command with which the launcher starts a program, as it would be typed."""
    programs = Programs({}, Path())
    started: list[list[str]] = []
    programs._program = lambda name, command, rank, **more: started.append(command)  # type: ignore[method-assign,assignment]
    programs.web(8000) if kind == "web" else programs.worker(kind, "", 1)
    return started[0]


def test_gunicorn_runs_with_the_same_options_everywhere() -> None:
    (image,) = re.findall(r"^CMD (\[.*\])$", (ROOT / "docker" / "Dockerfile").read_text(), re.M)
    said = _options(_PROCESSES[0])
    assert said["--worker-class"] == "gthread"
    assert "--no-control-socket" in said, "its folder would be the home folder, which services often have none of"
    assert said == _options(re.findall(r'"(.*?)"', image)) == _options(_launched("web"))


def test_workers_have_the_same_names_and_queues_everywhere() -> None:
    said = {
        command[command.index("-n") + 1]: command[command.index("-Q") + 1] for command in _PROCESSES if "-Q" in command
    }
    composed = re.findall(r'"-n", "(.*?)", "-Q", "(.*?)"', (ROOT / "docker" / "compose.yaml").read_text())
    assert said == dict(composed)
    assert len(said) == 2, "of two workers with one name, Celery knows one"
    assert {queue for queues in said.values() for queue in queues.split(",")} == set(QUEUES)
    for name in said:
        assert name in _launched(name.partition("@")[0])


def test_each_variable_that_is_declared_is_one_that_the_site_reads() -> None:
    settings = (ROOT / "portal" / "site" / "settings.py").read_text()
    assert {name for name in BY_NAME if f'"{name}"' not in settings} == set()


def test_each_variable_for_production_reaches_the_containers() -> None:
    composed = (ROOT / "docker" / "compose.yaml").read_text()
    named = {each.name for title, group in GROUPS.items() if title != DEVELOPMENT for each in group}
    assert {name for name in named if f"{name}: " not in composed} == {"STATIC_ROOT"}, "the image has these files"


def test_each_setting_that_has_no_default_is_in_the_list_to_begin_with() -> None:
    needed = {name for name, each in BY_NAME.items() if each.default is None}
    assert needed <= {line.partition("=")[0] for line in commands(blocks("sh")[0])}
    assert {"DATABASE_URL", "VAULT_KEYS", "EMAIL_URL"} <= needed
