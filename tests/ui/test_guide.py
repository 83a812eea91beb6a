"""The user's guide on the site: which help page opens where, in which language, and how its pages look."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from portal.guide.views import FOLDER, page_for_view, tasks
from tenants.models import User
from tenants.roles import ROLES
from tests.support.accessibility import barriers
from tests.support.places import PASSWORD, signed_in


def help_of(answer) -> str:
    return re.search(r'help-link" href="([^"]+)"', answer.content.decode())[1]


@pytest.mark.parametrize(
    ("role", "path", "leads_to"),
    [
        ("owner", "staff/", "/help/invite-staff/"),
        ("facility manager", "members/new/", "/help/add-member/"),
        ("facility manager", "members/leavers/", "/help/review-members/"),
        ("facility manager", "groups/", "/help/groups/"),
        ("facility manager", "intents/", "/help/uncertain-requests/"),
        ("guard", "devices/", "/help/door-status/"),
        ("auditor", "", "/help/"),
    ],
)
def test_help_leads_to_the_page_about_this_page(person, role, path, leads_to):
    client = person(role)
    assert help_of(client.get(f"/t/aozora/{path}")) == leads_to
    assert client.get(leads_to).status_code == 200


def test_a_kept_frame_does_not_keep_its_help(person):
    client = person("owner")
    assert help_of(client.get("/t/aozora/members/")) == "/help/add-member/"
    assert help_of(client.get("/t/aozora/members/leavers/")) == "/help/review-members/"


def test_a_page_without_one_of_its_own_leads_where_its_area_does():
    assert page_for_view("changes:ask") == "change-many-members"
    assert page_for_view("nothing:of-that-name") == "README"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_page_is_shown_in_the_persons_language_with_its_picture(support, language):
    User.objects.update(language=language)
    for name in ("index", *tasks()):
        address = reverse("guide:index") if name == "index" else reverse("guide:page", args=[name])
        page = support.get(address).content.decode()
        assert ("利用ガイド" in page) == (language == "ja"), name
        assert f"/static/guide/{language}/{name}.webp" in page or name == "index"
        assert ".md" not in page


def test_beside_a_page_the_tasks_of_its_main_role_are_open_and_those_of_other_roles_folded(support):
    beside = (
        support.get("/help/unlock-door/").content.decode().partition('class="guide-tasks"')[2].partition("</nav>")[0]
    )
    lists = re.findall(r"<details( open)?>\s*<summary>(.+?)</summary>(.+?)</details>", beside, re.S)
    assert [title for is_open, title, _links in lists if is_open] == ["Guard"] == [lists[0][1]]
    can_unlock = [title for _is_open, title, links in lists if 'href="/help/unlock-door/" aria-current="page"' in links]
    assert can_unlock == ["Guard", "Owner", "Facility manager"]
    assert len(lists) == len(ROLES)


def test_the_front_page_has_the_tasks_of_each_role_folded(support):
    page = support.get("/help/").content.decode()
    lists = re.findall(r"<details>\s*<summary>(.+?)</summary>(.+?)</details>", page, re.S)
    assert [title for title, _links in lists] == [role.title for role in ROLES]
    links = re.findall(r'<a href="/help/([\w-]+)/"', page)
    assert set(links) == set(tasks())
    assert links == re.findall(r"\]\(([\w-]+)\.md\)", (FOLDER / "en" / "README.md").read_text(encoding="utf-8"))


def test_there_is_no_other_page(support):
    assert support.get("/help/guide.toml/").status_code == 404
    assert support.get("/help/no-such-task/").status_code == 404


def test_the_guide_is_for_those_who_are_signed_in(client):
    assert client.get("/help/").status_code == 302


@pytest.fixture
def guide(open_page):
    """Return `guide(path, width=390)`, which opens a page of the guide. Browser errors fail the test."""
    user = User.objects.create_user("mori@example.test", PASSWORD, name="Mori Ken", platform_role="support")
    client = signed_in(user)

    def make(path: str, language: str = "en", theme: str = "light", **options) -> Page:
        User.objects.filter(pk=user.pk).update(theme=theme, language=language)
        return open_page(client, path, **options)

    return make


def test_the_key_opens_the_help_of_the_page_beside_it(guide):
    page = guide("/platform/")
    with page.context.expect_page() as opened:
        page.keyboard.press("?")
    expect(opened.value.locator("h1")).to_have_text("Help a customer in a support session")
    page.locator("input[type=search]").first.press("?")
    assert len(page.context.pages) == 2


@pytest.mark.parametrize(("width", "theme", "language"), [(1440, "dark", "en"), (390, "light", "ja")])
def test_a_page_fits_and_keeps_nobody_out(guide, width, theme, language):
    page = guide("/help/unlock-door/", width=width, theme=theme, language=language)
    expect(page.locator(".guide-text img")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, every=True) == []
    page.locator(".guide-tasks [open] [aria-current=page]").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/help/door-status/$"))
