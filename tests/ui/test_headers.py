"""The headers of every answer."""

import json
import os
import subprocess
import sys

import pytest
from django.test import Client

_COOKIES = """
import json
from portal.site import settings
names = [settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME]
print(json.dumps([names, settings.SESSION_COOKIE_SECURE, settings.KNOWN_BROWSER_COOKIE_NAME[:9]]))
"""


@pytest.mark.django_db
def test_no_page_of_ours_is_shown_inside_another_sites():
    answer = Client().get("/accounts/login/")
    policy = dict(each.strip().partition(" ")[::2] for each in answer["Content-Security-Policy"].split(";"))
    assert policy["frame-ancestors"] == "'none'"
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("address", ["http://[x", "https://[::1", "//[", "javascript:1", "\\udcff"])
def test_a_page_that_is_no_address_stops_nothing(place, address):
    """Check any value in the browser's header for the current page."""
    headers = {"HX-Request": "true", "HX-Current-URL": address, "Referer": address}
    for client in (Client(), place.client()):
        assert client.get(f"/t/{place.tenant.slug}/", headers=headers).status_code < 500
        assert client.get("/", headers=headers).status_code < 500
    assert Client().post("/", headers={"Referer": address}).status_code < 500


@pytest.mark.parametrize(("address", "prefix"), [("https://portal.example.com", "__Host-"), ("http://127.0.0.1", "")])
def test_cookies_are_bound_to_the_host_where_https_is_on(address, prefix):
    """Check in a separate process, since a process reads settings once."""
    run = subprocess.run(
        [sys.executable, "-c", _COOKIES], env=os.environ | {"PORTAL_URL": address}, capture_output=True, check=True
    )
    names = [f"{prefix}{name}" for name in ("sessionid", "csrftoken", "django_language")]
    assert json.loads(run.stdout) == [names, bool(prefix), "__Secure-" if prefix else "known_bro"]
