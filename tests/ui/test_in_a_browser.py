"""What only a real browser shows: keys, selection, what the policy forbids, widths, and what axe finds."""

import pytest
from playwright.sync_api import Page, expect

from tenants.models import User
from tests.support.accessibility import barriers
from tests.support.effort import one_in
from tests.support.places import PASSWORD, signed_in


@pytest.fixture
def styles(open_page):
    """Return `styles(width, theme, language)`, which opens the style page, signed in. Browser errors fail the test."""
    user = User.objects.create_user("mori@example.test", PASSWORD, name="Mori Ken", platform_role="support")
    client = signed_in(user)

    def make(width=1440, theme="light", language="en", **options) -> Page:
        User.objects.filter(pk=user.pk).update(theme=theme, language=language)
        return open_page(client, "/_components/?size=25", width=width, **options)

    return make


def test_the_palette_opens_by_keys_finds_and_closes(styles):
    page = styles()
    page.keyboard.press("Control+k")
    palette = page.locator("#palette")
    expect(palette).to_be_visible()
    page.keyboard.type("nothing of that name")
    expect(palette).to_contain_text("No results for “")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()


def test_a_selection_survives_paging_and_ends_with_the_filter(styles):
    page = styles()
    page.locator("[data-pick-page]").check()
    bulk = page.locator("[data-bulk]")
    expect(bulk).to_contain_text("25 selected")
    page.locator("a[rel=next]").click()
    expect(page.locator(".pages-range")).to_contain_text("26–")
    expect(bulk).to_contain_text("25 selected")
    page.locator("tbody input[name=id]").first.check()
    expect(bulk).to_contain_text("26 selected")
    assert page.locator("[data-bulk] [name=ids]").input_value().count(",") == 24
    page.locator("[data-pick-match]").click()
    assert page.locator("[data-bulk] [name=scope]").input_value() == "match"
    page.locator(".filter summary").first.click()
    page.get_by_label("auth", exact=True).check()
    expect(page.locator(".filter-on")).to_contain_text("auth")
    expect(bulk).to_be_hidden()
    assert "app=auth" in page.url


def test_rows_are_walked_and_opened_by_keys(styles):
    page = styles()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("tr.here")).to_have_attribute(
        "data-id", page.locator(".rows tbody tr").nth(1).get_attribute("data-id")
    )
    page.keyboard.press("/")
    expect(page.locator(".list-search input")).to_be_focused()
    page.keyboard.type("emailaddr")
    expect(page.locator(".rows tbody tr")).to_have_count(1)
    assert "q=emailaddr" in page.url


def test_leaving_with_changes_asks_and_a_sent_form_does_not(styles):
    page = styles()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.locator("#form input[name=name]").first.fill("田中")
    expect(page.locator("#form .count").first).to_have_text("2 / 40")
    page.locator(".wordmark").click()
    page.wait_for_timeout(200)
    assert asked == ["beforeunload"]
    assert "_components" in page.url


def test_a_shown_secret_hides_and_leaves_nothing_in_the_page(styles):
    page = styles()
    assert "0123 4567 89AB" in page.content()
    page.locator("[data-secret-hide]").click()
    assert "0123 4567 89AB" not in page.content()


def test_the_connection_is_missed_and_found_again(styles, open_tab):
    open_tab.excused.append("ERR_INTERNET_DISCONNECTED")
    page = styles()
    page.context.set_offline(True)
    expect(page.locator("#offline")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator("#offline")).to_be_hidden()


@pytest.mark.parametrize(
    ("width", "language", "theme"),
    one_in(2, [(390, "ja", "dark"), (390, "ja", "light"), (1440, "en", "light"), (1440, "en", "dark")]),
)
def test_nothing_is_wider_than_the_screen_and_axe_finds_nothing(styles, width, theme, language):
    page = styles(width, theme, language, bypass_csp=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers(page, every=True) == []
