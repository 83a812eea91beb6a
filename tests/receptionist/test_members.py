"""A receptionist may not see members, and is shown why."""

import pytest

from tests.support.members import MembersDesk, said


@pytest.fixture
def desk(place):
    return MembersDesk(place, "receptionist")


def test_every_page_is_refused_with_the_reason(desk):
    member = desk.members()[0].member_id
    for rest in ("", "new/", "export/", f"{member}/", f"{member}/reading/", f"{member}/edit/", f"{member}/delete/"):
        answer = desk.client.get(desk.url + rest)
        assert answer.status_code == 403, rest
        assert "Receptionist" in said(answer)
        assert "does not have" in said(answer)


def test_no_post_reaches_the_service(desk):
    member = desk.members()[0].member_id
    for rest in ("new/", "export/", f"{member}/edit/", f"{member}/delete/", f"{member}/reveal/card/"):
        assert desk.client.post(desk.url + rest, {"member_name": "A"}).status_code == 403
    assert [call for call in desk.place.calls() if call["operation"] in (4, 6, 10)] == []


def test_an_auditor_reads_and_changes_nothing(place):
    desk = MembersDesk(place, "auditor")
    member = desk.members()[0].member_id
    page = desk.get(f"{member}/")
    assert "/edit/" not in page
    assert "/delete/" not in page
    assert "/reveal/" not in page
    for rest in ("new/", f"{member}/edit/", f"{member}/delete/"):
        assert desk.client.get(desk.url + rest).status_code == 403
    assert desk.client.post(f"{desk.url}{member}/reveal/card/").status_code == 403
