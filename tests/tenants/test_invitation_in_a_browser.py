"""An invited person with a browser: the secret address is not passed on, and the form still works."""

import pytest

from tenants.models import User
from tests.tenants.test_staff import NEW, invite


@pytest.mark.django_db(transaction=True)
def test_a_new_person_accepts_an_invitation(make_two, open_page):
    page = open_page(path=invite(make_two()))
    asked = []
    page.on("request", lambda request: asked.append(request.all_headers()))
    page.get_by_label("Name").fill(NEW["name"])
    page.get_by_label("Password").fill(NEW["password"])
    page.get_by_role("button", name="Accept the invitation").click()
    page.wait_for_url(lambda url: "/invitations/" not in url)
    assert User.objects.filter(email="new@example.test").exists()
    assert not [each for each in asked if "/invitations/" in each.get("referer", "")]
