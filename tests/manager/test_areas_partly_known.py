"""An area whose members' rights are only partly loaded: every count and export says so, and offers to load the rest."""

import csv
import io
import re

import pytest

from accessapi.permissions import always
from portal.domain.jobs.models import Job, JobState, RowState
from portal.domain.people.models import Member
from tests.support.areas import AreasDesk
from tests.support.members import said

READ, BULK = 5, 14


@pytest.fixture
def desk(place):
    """Create five members; the rights of two are loaded, and one of them holds a right here."""
    desk = AreasDesk(place)
    with desk.scope():
        Member.objects.update(rights=None, rights_read_at=None)
    desk.know(desk.people[0], {"default_mode": "option", "areas_list": [held(desk)]})
    desk.know(desk.people[1], {"default_mode": "deny_all"})
    return desk


def held(desk):
    return {"area_id": desk.area.area_id, "pass": always()}


def last_line(answer):
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))[-1]


def test_headline_list_and_files_say_that_there_are_at_least_so_many(desk):
    page = said(desk.client.get(desk.at()))
    assert "at least 1 of 5 members" in page
    assert "Rights of 3 members not loaded. These members may have access, too." in page
    assert "At least 1: rights of 3 members not loaded" in page
    export = last_line(desk.client.get(desk.at(), {"export": "csv"}))
    assert export == ["At least 1: rights of 3 members not loaded"]
    listed = said(desk.client.get(desk.areas_url))
    assert "Rights of 3 members not loaded" in listed
    assert "at least 1" in listed
    assert last_line(desk.client.get(desk.areas_url, {"export": "csv"})) == ["Rights of 3 members not loaded"]


def test_the_rest_is_loaded_by_a_job_whose_calls_and_minutes_are_said_before(desk):
    desk.set_at_service(desk.people[2], {"default_mode": "option", "areas_list": [held(desk)]})
    page = said(desk.client.get(desk.at()))
    assert "Load 3 members now 3 API calls, less than a minute" in page
    before = {each: len(desk.place.calls(each)) for each in (READ, BULK)}
    answer = desk.client.post(f"{desk.areas_url}rights/load/")
    assert answer.status_code == 302
    again = desk.client.post(f"{desk.areas_url}rights/load/")
    assert again["Location"] == answer["Location"]
    assert "Loading" in said(desk.client.get(desk.at()))
    with desk.scope():
        job = Job.objects.select_related("tenant").get(kind="read_rights")
    job = desk.finish(job)
    assert job.state == JobState.DONE
    assert {row.state for row in desk.rows(job).values()} == {RowState.SUCCEEDED}
    assert {each: len(desk.place.calls(each)) - before[each] for each in before} == {READ: 3, BULK: 0}
    assert "Load the rights of 3 members" in said(desk.client.get(answer["Location"]))
    page = said(desk.client.get(desk.at()))
    assert "not loaded" not in page.replace("The activity log is not loaded yet.", "")
    assert "at least" not in page
    assert re.search(r"\b[2-5] of 5 members", page)  # the two others have the rights that the sandbox gave them
    assert len(last_line(desk.client.get(desk.at(), {"export": "csv"}))) > 1


def test_whoever_may_not_change_rights_is_told_and_spends_nothing(desk):
    auditor = desk.place.client(desk.place.staff("auditor"))
    page = said(auditor.get(desk.at()))
    assert "Rights of 3 members not loaded" in page
    assert "Load 3 members" not in page
    assert auditor.post(f"{desk.areas_url}rights/load/").status_code == 403
