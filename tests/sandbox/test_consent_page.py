"""The member site's pages in a real browser."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.support.chromium import Tabs
from tests.support.sandbox import Sandbox, SandboxTenant


def test_an_administrator_signs_in_and_consents(open_tab: Tabs, sandbox: Sandbox, tenant: SandboxTenant) -> None:
    callback = f"{sandbox.url}/healthz"
    client = sandbox.client(callback, name="Portal in a browser")
    query = {"response_type": "code", "client_id": client.client_id, "redirect_uri": callback, "state": "x"}
    open_tab.excused.append("status of 404")  # the browser requests an icon from the address it returns to
    page = open_tab(sandbox.url)
    page.goto(f"/oauth2/authorize?{urlencode(query)}")
    page.get_by_label("Login").fill(tenant.admin_login)
    page.get_by_label("Password").fill(tenant.admin_password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text(tenant.name)).to_be_visible()
    page.get_by_role("button", name="Use another account").click()
    page.get_by_label("Login").fill(tenant.admin_login)
    page.get_by_label("Password").fill(tenant.admin_password)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url(f"{callback}?*")
    assert "code=" in page.url
    assert "state=x" in page.url
