"""A list that goes through a spreadsheet and comes back changes no member: in both languages, as CSV and XLSX."""

import csv
import io
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from portal.domain.jobs.models import Action, Job, Row
from portal.domain.people.models import Member
from portal.imports import actions, checking
from portal.imports.columns import guess_columns
from portal.imports.models import KIND
from tenants.scope import tenant_scope
from tests.imports.conftest import Desk

NAMES = [
    "𠮷野 家",
    "髙橋 一郎",
    "=1+1",
    "-5",
    "Łukasz Čapek",
    "'=x",
    "山田　太郎 ",
    "Nguyễn Thị Ánh",
    "O'Brien",
    "佐藤,花子",
]
CODES = ["000042", "E-1", "0", "1e5", "ＥＸ９", "-7", "+81", "42.0", "1/2", ""]


@pytest.fixture
def manager(place):
    desk = Desk(place)
    with tenant_scope(place.tenant):
        desk.sync()
        for number, member in enumerate(Member.objects.order_by("pk")):
            member.member_name, member.member_code = NAMES[number % len(NAMES)], CODES[number % len(CODES)]
            member.use_date_end = f"2027-03-{number % 28 + 1:02d}T23:59:{59 if number % 2 else 0:02d}+09:00"
            member.use_date_start = f"2026-04-01T09:{number % 60:02d}:{number % 3:02d}+09:00"
            member.save()
    return place.client(place.staff("facility manager"))


def exported(manager, place, kind, language):
    manager.cookies["django_language"] = language
    answer = manager.get(f"/t/{place.tenant.slug}/members/", {"export": kind}, headers={"accept-language": language})
    return b"".join(answer.streaming_content)


# What spreadsheets do to a cell of CSV when a person opens the file and saves it.
CHANGES = {
    "cuts seconds": lambda cell: re.sub(r"^(\d{4}-\d\d-\d\d \d\d:\d\d):\d\d$", r"\1", cell),
    "writes dates with slashes": lambda cell: re.sub(
        r"^(\d{4})-0?(\d+)-0?(\d+) 0?(\d+)(:\d\d)", r"\1/\2/\3 \4\5", cell
    ),
    "takes zeros from numbers": lambda cell: cell.lstrip("0") or "0" if cell.isdecimal() and cell else cell,
    "adds spaces": lambda cell: f"{cell} " if cell else cell,
}


def saved_as_csv(content, changes, encoding):
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerow(rows[0])
    for row in rows[1:]:
        cells = row
        for name in changes:
            cells = [CHANGES[name](cell) for cell in cells]
        writer.writerow(cells)
    return target.getvalue().encode(encoding, "replace")


def saved_as_xlsx(content):
    target = io.BytesIO()
    load_workbook(io.BytesIO(content)).save(target)
    return target.getvalue()


def outcome(place, content):
    """Return the actions and problems of the rows of an import of this file."""
    with tenant_scope(place.tenant):
        desk = Desk(place)
        job = desk.upload(content, "members")
        assert {"member_id", "member_name"} <= guess_columns(KIND, job.sheet.file.headings).keys()
        assert actions.choose_columns(by=place.asker, job=job, chosen=job.sheet.columns)
        checking.check(job.pk)
        rows = Row.objects.filter(job=job)
        found = [(row.action, row.content.get("body"), row.problems) for row in rows.exclude(action=Action.SAME)]
        assert rows.count() == Member.objects.count()
        Job.objects.filter(pk=job.pk).delete()
        return found


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_workbook_that_was_saved_again_changes_no_member(manager, place, language):
    assert outcome(place, saved_as_xlsx(exported(manager, place, "xlsx", language))) == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_end_of_use_that_was_extended_in_the_file_counts(manager, place, language):
    with tenant_scope(place.tenant):
        Member.objects.update(use_date_end="2026-01-31T18:00:00+09:00")
    content = exported(manager, place, "csv", language).replace(b"2026-01-31 18:00", b"2028-01-31 18:00")
    changes = outcome(place, content)
    assert {action for action, _body, _problems in changes} == {Action.UPDATE}
    assert {body["use_date_end"] for _action, body, _problems in changes} == {"2028-01-31T18:00:00+09:00"}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_csv_that_was_saved_again_changes_no_member(manager, place, language):
    content = exported(manager, place, "csv", language)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        changes=st.sets(st.sampled_from(sorted(CHANGES))), encoding=st.sampled_from(["utf-8-sig", "cp932", "utf-16"])
    )
    @example(changes=set(CHANGES), encoding="cp932")
    def saved(changes, encoding):
        assert outcome(place, saved_as_csv(content, sorted(changes), encoding)) == []

    saved()
