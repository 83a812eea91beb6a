"""A download that needs a proof starts automatically after it, in a browser with and without JavaScript.

Only a browser shows that the page stays open while the file arrives.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.support.members import MembersDesk
from tests.support.places import PASSWORD, age_proof


@pytest.mark.parametrize("script", [True, False])
def test_the_file_comes_and_the_page_stays(place, live_server, open_tab, script):
    desk = MembersDesk(place, "owner")
    page = open_tab(live_server.url, desk.client, java_script_enabled=script)
    page.goto(live_server.url + desk.url)
    age_proof(desk.client.session)
    page.goto(f"{live_server.url}{desk.url}?export=csv", referer=f"{live_server.url}{desk.url}")
    with page.expect_download() as download:
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
        expect(page).to_have_url(re.compile(re.escape(desk.url) + r"\?unsent="))
        expect(page.get_by_text("The download starts now.")).to_be_visible()
    assert download.value.suggested_filename.endswith(".csv")
    expect(page.get_by_role("heading", level=1)).to_have_text("Members")
