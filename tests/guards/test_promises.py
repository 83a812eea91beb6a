"""Each promise has at least one quick attack, and each test is of exactly one kind."""

import re
from itertools import combinations

import pytest
from _pytest.mark.expression import Expression

from stack.paths import ROOT
from stack.testing import KINDS
from tests.conftest import JOURNEYS

_QUICK = re.compile(r"mark\.quick\b")
#: Promises whose attacks on real processes all take long, and their quick form elsewhere.
ELSEWHERE = {
    "test_backup.py": "tests/tenants/test_backup.py",
    "test_database_away.py": "tests/tenants/test_lost_database.py",
    "test_encryption.py": "tests/tenants/test_ciphertexts.py",
    "test_files.py": "tests/imports/test_hostile_files.py",
    "test_restored_database.py": "tests/timers/test_restored.py",
    "test_reports_sent_once.py": "tests/manager/test_report_schedules.py",
}


def quick(path):
    return bool(_QUICK.search(path.read_text(encoding="utf-8")))


def test_each_file_of_attacks_has_a_quick_one_or_names_it():
    files = {path.name: path for path in (ROOT / "tests" / "promises").glob("test_*.py")}
    assert len(files) > 20
    assert {name for name, path in files.items() if not quick(path)} == ELSEWHERE.keys()
    assert [each for each in ELSEWHERE.values() if not (ROOT / each).is_file()] == []


def test_every_test_that_the_table_of_promises_names_is_there():
    table = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8").partition("## How to run")[0]
    named = re.findall(r"`(tests/[\w/]+/)?(test_\w+\.py)`", table)
    assert len(named) > 25
    assert [name for folder, name in named if not (ROOT / (folder or "tests/promises/") / name).is_file()] == []


#: Marks that decide by which command a test is run.
_MARKS = ("soak", "attack", "journey")


@pytest.mark.parametrize("marks", [marks for number in range(4) for marks in combinations(_MARKS, number)], ids=str)
def test_a_test_is_of_exactly_one_kind(marks):
    meant = {kind: arguments[arguments.index("-m") + 1] for kind, arguments in KINDS.items()} | {"soak": "soak"}
    kinds = [
        kind for kind, words in meant.items() if Expression.compile(words).evaluate(lambda name, **_: name in marks)
    ]
    assert len(kinds) == 1


def test_every_running_site_and_browser_is_of_the_journeys_or_the_attacks(request):
    strays = [
        each.nodeid
        for each in request.session.items
        if JOURNEYS & {*getattr(each, "fixturenames", ())}
        and not (each.get_closest_marker("attack") or each.get_closest_marker("journey"))
    ]
    assert strays == []


def test_each_kind_has_a_target_and_the_build_runs_it():
    makefile, build = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", ".ci/run"))
    for kind in KINDS:
        assert f"\n{kind}: $(STAMP)\n\t@$(STACK) test --kind {kind} -- $(ARGS)\n" in makefile
        assert f"$(STACK) test --kind {kind} -- --keep-durations\n" in makefile
        assert f"\nseconds {kind}\n" in build
