"""Every area of work is tested against a service that decides the other way (`make contrary`)."""

import re
import subprocess

import pytest

from stack.paths import ROOT

#: Tests that use an area's pages and actions with the service.
THROUGH = {
    "alerts": "tests/promises/test_alerts.py",
    "areas": "tests/manager/test_area_access.py",
    "cameras": "tests/manager/test_cameras.py",
    "changes": "tests/manager/test_changes.py",
    "codes": "tests/receptionist/test_codes.py",
    "devices": "tests/guard/test_holds.py",
    "evidence": "tests/manager/test_evidence.py",
    "expected": "tests/receptionist/test_expected.py",
    "explain": "tests/manager/test_explain.py",
    "groups": "tests/manager/test_groups.py",
    "guests": "tests/receptionist/test_issuing.py",
    "home": "tests/manager/test_home.py",
    "webhooks": "tests/webhooks",
    "imports": "tests/imports/test_running.py",
    "intercom": "tests/guard/test_intercom.py",
    "keys": "tests/guard/test_a_wrong_key.py",
    "lockdown": "tests/promises/test_lockdown.py",
    "history": "tests/guard/test_what_is_known_of_doors.py",
    "members": "tests/manager/test_members.py",
    "plans": "tests/manager/test_floor_plans.py",
    "reports": "tests/manager/test_reports.py",
    "reviews": "tests/manager/test_reviews.py",
    "rights": "tests/manager/test_rights.py",
    "rollcall": "tests/receptionist/test_roll_call.py",
    "today": "tests/receptionist/test_today_in_a_browser.py",
}
#: Folders whose addresses request nothing from the service: the guide, and the site itself.
NONE_OF_IT = {"guide", "site"}


def listed():
    made = subprocess.run(["make", "-n", "contrary"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"tests/[\w/.]+", made))


def test_each_area_is_in_the_list():
    areas = {path.parent.name for path in (ROOT / "portal").glob("*/urls.py")} - NONE_OF_IT
    assert areas == THROUGH.keys()
    assert {name for name, path in THROUGH.items() if path not in listed()} == set()


def test_each_file_of_the_list_is_there():
    assert [path for path in listed() if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", sorted({*THROUGH.values()}))
def test_each_of_them_has_the_service_behind_it(path):
    files = [ROOT / path] if path.endswith(".py") else (ROOT / path).glob("test_*.py")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert re.search(r"\b(place|make|house|customer|desk|sandbox|stage)\b", text)
