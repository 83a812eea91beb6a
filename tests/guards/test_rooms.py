"""No module and no test file is too long to be read in one go, and no line of a template is too long."""

from tests.support.sources import PACKAGES, sources

LONGEST = 400
WIDEST = 120


def test_no_file_is_longer_than_four_hundred_lines():
    long = {each.name: len(each.lines) for each in sources(*PACKAGES) if len(each.lines) > LONGEST}
    assert long == {}


def test_no_line_of_a_template_is_longer_than_a_hundred_and_twenty_characters():
    wide = [
        f"{each.name}:{number}"
        for each in sources("templates", suffix=".*")
        for number, line in enumerate(each.lines, 1)
        if len(line) > WIDEST
    ]
    assert wide == []
