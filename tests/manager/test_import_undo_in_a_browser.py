"""A facility manager's browser: the members of an import, its undo with a preview, and the result."""

import re

import pytest
from playwright.sync_api import Page, expect

from portal.domain.jobs.models import Job
from tests.imports.test_running import HEADINGS, lines
from tests.manager.test_import_undo import known, new
from tests.manager.test_imports import desk, inside
from tests.support.accessibility import barriers
from tests.support.fixtures import make, place, sandbox

__all__ = ["desk", "make", "place", "sandbox"]


@pytest.fixture
def page(open_page, desk) -> Page:
    return open_page(desk.place.client(desk.place.staff("facility manager")))


def test_an_import_is_looked_at_undone_and_says_so(desk, page: Page) -> None:
    first = known(desk, 1)[0]
    with inside(desk):
        job = desk.imported(lines(HEADINGS, *new(desk, 3), ["改名", first.member_code, "", ""]))
    page.goto(f"/t/{desk.place.tenant.slug}/imports/{job.pk}/")
    assert barriers(page) == []
    page.get_by_role("link", name="Show these members").click()
    expect(page.get_by_role("link", name="新人2")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(4)
    assert barriers(page) == []
    page.get_by_role("link", name="Remove filter From import").click()
    expect(page.locator("tbody tr")).to_have_count(8)
    page.goto(f"/t/{desk.place.tenant.slug}/imports/{job.pk}/")
    page.get_by_role("button", name="Undo…").click()
    expect(page.get_by_role("heading", name="Undo: Import staff.csv")).to_be_visible()
    assert barriers(page) == []
    page.get_by_label(re.compile("To permanently delete 3 members")).fill("3")
    page.get_by_role("button", name="Undo import").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    with inside(desk):
        desk.run(Job.objects.get(undo_of=job))
    expect(page.get_by_text("4 of 4 rows")).to_be_visible()  # the page refreshed automatically
    page.get_by_role("link", name="Undoes an import").click()
    expect(page.get_by_role("link", name=re.compile(r"Undone .* by "))).to_be_visible()
    expect(page.get_by_role("button", name="Undo…")).to_have_count(0)
    assert barriers(page) == []
