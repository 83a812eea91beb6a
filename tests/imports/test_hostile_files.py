"""Files that would expand too much are refused before they are unpacked or decoded, and values are preserved."""

import csv
import io
import re
import zipfile
from typing import TypeVar

import pytest

from portal.base.files import file_limits
from portal.base.files.writing import unescape_formula
from portal.domain.jobs.models import Job, JobState
from portal.domain.people.models import Member
from portal.imports import checking
from portal.plans.models import FloorPlan
from tenants.scope import tenant_scope
from tests.support import hostile_files
from tests.support.browser import gist, upload
from tests.support.effort import SOAK
from tests.support.images import huge_jpeg, huge_png, jpeg, png
from tests.support.in_process_browser import Inside
from tests.support.isolation import url
from tests.support.memory import Memory
from tests.support.places import Place

T = TypeVar("T")

FACE = 9
MOST = 100 * 1024  # kilobytes
LIVE = re.compile(r"[=+\-@\t\r\n\v\f＝＋－＠]")
EVIL = ["=cmd|' /C calc'!A0", "+81-3", "-5", "@SUM(A1)", "'apostrophe", "'=1", "００12", "0012", 'quo"te', "髙橋　花子"]
SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'

WORDS = {
    "144 megapixels": "144 megapixels",
    "a PNG named .jpg": "This is a PNG file",
    "400 megapixels in a PNG named .jpg": "This is a PNG file",
    "cut off": "damaged or incomplete",
    "2 MB and a byte": "the limit is 2 MB",
}


def pictures() -> dict[str, bytes]:
    return {
        "144 megapixels": huge_jpeg(),
        "a PNG named .jpg": png(),
        "400 megapixels in a PNG named .jpg": huge_png(),
        "cut off": jpeg()[:-4000],
        "2 MB and a byte": bytes(2 * 1024 * 1024 + 1),
    }


def with_part(name: str, *pieces: bytes) -> bytes:
    """Return a workbook in which one part is replaced."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(hostile_files.workbook(["氏名"], ["x"]))) as old,
        zipfile.ZipFile(made, "w", 8) as new,
    ):
        for each in {*old.namelist(), name}:
            with new.open(each, "w") as part:
                part.writelines(pieces if each == name else [old.read(each)])
    return made.getvalue()


def burst() -> dict[str, tuple[str, bytes, str]]:
    """Return, by name, the file's name, the file, and the expected message."""
    sheet = "xl/worksheets/sheet1.xml"
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    return {
        "a sheet of 256 MB": (
            "a.xlsx",
            with_part(sheet, *[b" " * (1 << 20)] * (file_limits.MAX_SHEET_BYTES >> 20), SHEET % b""),
            "The file is too large when unpacked or has unexpected content. It was not opened.",
        ),
        "strings of 48 MB": (
            "a.xlsx",
            with_part("xl/sharedStrings.xml", *[b" " * (1 << 20)] * 48, b"<sst/>"),
            "The file is too large when unpacked or has unexpected content. It was not opened.",
        ),
        "entities": (
            "a.xlsx",
            with_part("xl/workbook.xml", entities),
            "The file is too large when unpacked or has unexpected content. It was not opened.",
        ),
        "a row of endless cells": ("a.xlsx", with_part(sheet, SHEET % (b'<row r="1">' + b"<c/>" * 500_000)), ""),
        "an archive that is none": (
            "a.xlsx",
            b"PK\x03\x04" + bytes(500),
            "This XLSX file cannot be read. Save it again as XLSX or CSV.",
        ),
        "a NUL": ("a.csv", "氏名\nx\0y\n".encode(), "NUL character"),
        "has a cell that does not end. A closing quotation mark may be missing": (
            "a.csv",
            '氏名\n"'.encode() + b"x" * 200_000,
            "has a cell that does not end. A closing quotation mark may be missing",
        ),
        "neither UTF-8 nor Shift-JIS": ("a.csv", b"name\n\xff\xfe\xfd\n", "neither UTF-8 nor Shift-JIS"),
        "nothing": ("a.csv", b"", "empty"),
    }


def test_no_picture_is_decoded_before_it_is_refused(place: Place) -> None:
    found = place.sandbox.api("GET", "/v1/members", token=place.service.token).json()["members"][0]
    with tenant_scope(place.tenant):
        Member.objects.create(tenant=place.tenant, member_id=found["member_id"], member_name="x", name_key="x")
    page = url(place, f"members/{found['member_id']}/face/")
    with Inside(place.staff("facility manager")) as browser:
        form = browser.form(page, having="nonce")
        attacks, memory = pictures(), Memory()
        for name, content in attacks.items():
            answer = browser.send("POST", page, data=form.values, files={"image": ("face.jpg", content, "image/jpeg")})
            assert answer.status_code < 500, name
            assert WORDS[name] in gist(answer, 4000), name
    assert memory.growth < MOST
    assert place.calls(FACE) == []


def test_no_spreadsheet_bursts(place: Place) -> None:
    with Inside(place.staff("facility manager")) as browser:
        files, memory = burst(), Memory()
        for name, (file, content, words) in files.items():
            answer = upload(browser, url(place, "imports/new/"), "file", file, content)
            assert answer.status_code == 422, name
            assert words in gist(answer, 4000), name
    assert memory.growth < MOST
    with tenant_scope(place.tenant):
        assert not Job.objects.exists()


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_values_come_back_as_they_were(place: Place, encoding: str) -> None:
    """Check the file of rows to correct: nothing in it is a formula, and nothing is lost."""
    rows = [[name, f"F{number:04d}", "無い"] for number, name in enumerate(EVIL)]
    made = io.StringIO(newline="")
    csv.writer(made).writerows([["氏名", "社員番号", "グループ"], *rows])
    with Inside(place.staff("facility manager")) as browser:
        page = upload(browser, url(place, "imports/new/"), "file", "a.csv", made.getvalue().encode(encoding))
        assert page.status_code == 200, gist(page)
        there = page.url.path
        form = browser.form(there, "columns")
        assert browser.post(form.action, form.values).status_code == 302
        with tenant_scope(place.tenant):
            job = Job.objects.get()
            checking.check(job.pk)
            job.refresh_from_db()
        assert job.state == JobState.CHECKED, job.problem
        back = browser.get(f"{there}to-correct.csv")
    cells = list(csv.reader(io.StringIO(back.content.decode("utf-8-sig"), newline="")))[1:]
    assert [cell for row in cells for cell in row if LIVE.match(cell)] == []
    assert [[unescape_formula(cell) for cell in row[:3]] for row in cells] == rows


@pytest.mark.share
def test_a_hostile_drawing_is_refused_or_drawn_and_breaks_no_page(place: Place) -> None:
    page, broken = url(place, "plans/new/"), []
    with Inside(place.staff("facility manager")) as browser:
        drawings = shared_out(hostile_files.pictures())
        memory = Memory()
        for name, content in drawings:
            files = {"image": ("plan.png", content, "image/png")}
            answer = browser.send("POST", page, data={"name": name}, files=files, follow_redirects=True)
            with tenant_scope(place.tenant):
                plan = FloorPlan.objects.filter(name=name).first()
            was_taken = page not in str(answer.url)
            shown = browser.get(url(place, f"plans/{plan.pk}/" if plan else "plans/"), follow_redirects=True)
            if answer.status_code >= 500 or was_taken != (plan is not None) or shown.status_code != 200:
                broken.append((name, answer.status_code, shown.status_code))
    assert broken == []
    assert memory.growth < MOST


@pytest.mark.share
def test_a_hostile_spreadsheet_is_refused_or_read_and_breaks_no_page(place: Place) -> None:
    broken, jobs = [], 0
    with Inside(place.staff("facility manager")) as browser:
        sheets = shared_out(hostile_files.sheets())
        memory = Memory()
        for name, (file, content) in sheets:
            answer = upload(browser, url(place, "imports/new/"), "file", file, content)
            with tenant_scope(place.tenant):
                more = Job.objects.count() - jobs
            if (answer.status_code, more) not in ((200, 1), (422, 0)):
                broken.append((name, answer.status_code, more))
            jobs += more
        assert browser.get(url(place, "imports/")).status_code == 200
    assert broken == []
    assert memory.growth < MOST


def shared_out(found: dict[str, T]) -> list[tuple[str, T]]:
    """Return all examples in a soak run, else a share."""
    return sorted(found.items())[:: 1 if SOAK else 7]
