"""An import first shows what needs attention, and says what it leaves out."""

import re

from tests.manager.test_imports import checked, desk, group_of, manager, run, text, url
from tests.support.fixtures import make, place, sandbox

__all__ = ["desk", "make", "manager", "place", "sandbox", "url"]


def current_tab(page):
    return re.search(r'aria-current="page">\s*([^<\s][^<]*) <', page)[1].strip()


def test_it_opens_on_what_needs_attention_and_names_the_rows_left_out(desk, manager, url):
    group = group_of(desk)
    rows = f"Name,Group\nGood One,{group}\nNowhere Woman,No such group\nOther Good,{group}\n,{group}\n"
    there = checked(desk, manager, url, rows)
    page = text(manager.get(there))
    assert current_tab(page) == "Needs attention"
    assert "Skipped: line 3 (Nowhere Woman), line 5" in re.sub(r"<[^>]+>", "", page)
    assert "Good One" not in page
    everything = text(manager.get(f"{there}?show="))
    assert current_tab(everything) == "All"
    assert "Good One" in everything
    manager.post(f"{there}start/")
    run(desk, there)
    page = text(manager.get(there))
    assert current_tab(page) == "Needs attention"
    assert "Nowhere Woman" in page
    assert "Good One" not in page


def test_without_anything_that_needs_attention_all_rows_are_shown(desk, manager, url):
    there = checked(desk, manager, url, f"Name,Group\nGood One,{group_of(desk)}\n")
    page = text(manager.get(there))
    assert current_tab(page) == "All"
    assert "Needs attention" not in page
    assert "Skipped" not in page
