"""Each promise is also tested by `make test`, with at least one quick attack."""

import re

from stack.paths import ROOT

_QUICK = re.compile(r"mark\.quick\b")
#: Promises whose attacks on real processes all take long, and their quick form in `make test`.
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
