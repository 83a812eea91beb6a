"""What every answer tells the browser."""

import pytest
from django.test import Client


@pytest.mark.django_db
def test_no_page_of_ours_is_shown_inside_another_sites():
    answer = Client().get("/accounts/login/")
    policy = dict(each.strip().partition(" ")[::2] for each in answer["Content-Security-Policy"].split(";"))
    assert policy["frame-ancestors"] == "'none'"
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"
