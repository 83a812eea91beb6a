"""No module and no test file is too long to be read in one go, and no line of a template is too long."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("accessapi", "tenants", "portal", "sandbox", "stack", "bench", "tests")
LONGEST = 400
WIDEST = 120


def test_no_file_is_longer_than_four_hundred_lines():
    long = {
        str(path.relative_to(ROOT)): count
        for part in PARTS
        for path in (ROOT / part).rglob("*.py")
        if "migrations" not in path.parts and (count := len(path.read_text().splitlines())) > LONGEST
    }
    assert long == {}


def test_no_line_of_a_template_is_longer_than_a_hundred_and_twenty_characters():
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "templates").rglob("*.*")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > WIDEST
    ]
    assert wide == []
