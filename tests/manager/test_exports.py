"""Every export of rows uses one writer: no cell is a formula, and the audit log records who downloaded it."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from openpyxl import load_workbook

from portal.base.files.writing import is_portal_file
from portal.base.ui.times import local
from portal.domain.jobs import actions
from portal.domain.people.models import Group, Member
from portal.domain.people.text_folding import fold
from portal.domain.places.models import Area
from portal.domain.visits.models import Visit
from tenants.models import AuditEntry, Connection
from tenants.scope import tenant_scope
from tests.support.crawl import addresses_of_tenants
from tests.support.places import staff_of
from tests.support.proofs import aged
from tests.support.sources import sources

LIVE = re.compile(r"[=+\-@\t\r\n\v\f＝＋－＠]")
EVIL = "=HYPERLINK(1)"
DATE_OR_NUMBER = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|[\d,.]+\Z")
#: Addresses that answer with rows as a file, and whether the file holds personal data.
FILES = {
    "members:index": True,
    "members:leavers": True,
    "members:leavers_of": True,
    "groups:index": True,
    "areas:index": True,
    "areas:area": True,
    "changes:page": True,
    "guests:building_file": True,
    "guests:month_file": True,
    "imports:template": False,
    "guests:expected_template": False,
}
#: Those whose rows are people.
PEOPLE = {name for name, holds_data in FILES.items() if holds_data} - {
    "groups:index", "areas:index", "guests:month_file",
}  # fmt: skip
#: The same for rejected rows of a person's own lists; the tests of those lists test these.
TRIED_ELSEWHERE = {"imports:failed", "guests:expected_failed"}
#: The only modules that may create files: the writer, and modules for pictures and paper, each listed here.
MAKERS = re.compile(
    r"FileResponse|StreamingHttpResponse|csv\.writer|(?<!_)Workbook\(|content.disposition", re.IGNORECASE
)
WRITERS = {
    "portal/base/files/writing.py",
    "portal/base/files/workbooks.py",
    "portal/codes/views.py",
    # The checking program, stored video, and other things that are stored as a whole.
    "portal/evidence/item_views.py",
    "portal/base/storage/store.py",
    "portal/base/storage/signed_archive.py",
    "portal/reviews/signed_report.py",  # a part of a signed archive
}


def reads():
    return [each for each in addresses_of_tenants() if "GET" in each.view.methods]


@pytest.fixture
def evil(place):
    """Create a tenant in which every name looks like a formula."""
    with tenant_scope(place.tenant):
        # No page requests these names from the service.
        Connection.objects.update(state=Connection.State.REVOKED)
        now = timezone.now()
        Group.objects.create(tenant=place.tenant, membergroup_id="G", membergroup_name=EVIL, name_key=fold(EVIL))
        Area.objects.create(tenant=place.tenant, area_id="A", area_name=EVIL)
        member = Member.objects.create(
            tenant=place.tenant, member_id="M", member_name=EVIL, name_key=fold(EVIL), member_code="+81-3",
            code_key="+81-3", membergroup_id="G", use_date_end=now + timedelta(days=3),
            use_end_key=int(now.timestamp()) + 3 * 86400,
        )  # fmt: skip
        Visit.objects.create(
            tenant=place.tenant, stage="issued", guest_id="V", guest_name=EVIL, name_key=fold(EVIL), company="@SUM(A1)",
            host_name="-host", use_date_start=now - timedelta(hours=1), use_date_end=now + timedelta(hours=1),
            arrived_at=now,
        )  # fmt: skip
        rows = [(member.member_id, {"membergroup_id": "G"}, {"membergroup_id": ""})]
        place.job = actions.prepare(kind="move", by=place.asker, rows=rows, title=EVIL)
    return place


def path_of(address, place, kind):
    """Return the address with its parts filled in, or None if it names something that this tenant does not have."""
    known = {"area_id": "A", "member_id": "M", "membergroup_id": "G", "guest_id": "V",
             "job_id": str(place.job.pk), "kind": kind, "language": "en", "which": "ending"}  # fmt: skip
    names = {name for _, name in address.parameters}
    return address.path(place.tenant.slug, known) if names <= set(known) else None


def cells(answer, kind):
    content = b"".join(answer.streaming_content)
    if kind == "csv":
        return [cell for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) for cell in row]
    return [cell for row in load_workbook(io.BytesIO(content)).active.iter_rows() for cell in row]


def entries(place):
    with tenant_scope(place.tenant):
        return AuditEntry.objects.count()


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_every_address_that_answers_a_file_of_rows(evil, kind):
    browser, found, seen = evil.client(), set(), set()
    for address in reads():
        name, path = address.name, path_of(address, evil, kind)
        if path is None:
            continue
        before = entries(evil)
        answer = browser.get(path, {"export": kind})
        if not answer.get("Content-Disposition", "").startswith("attachment"):
            continue
        found.add(name)
        held = cells(answer, kind)
        if any(EVIL in str(getattr(cell, "value", cell)) for cell in held):
            seen.add(name)
        if kind == "csv":
            assert [cell for cell in held if LIVE.match(cell)] == [], name
        else:
            assert [cell.value for cell in held if cell.data_type == "f"] == [], name
        assert (entries(evil) > before) == FILES[name], name
    assert found == set(FILES)
    assert {"members:index", "groups:index", "areas:index", "changes:page", "guests:building_file"} <= seen


def test_every_workbook_has_a_head_that_stays_and_values_with_types(evil):
    browser, found = evil.client(), {}
    for address in reads():
        if address.name in FILES and (path := path_of(address, evil, "xlsx")):
            answer = browser.get(path, {"export": "xlsx"})
            found[address.name] = load_workbook(io.BytesIO(b"".join(answer.streaming_content))).active
    assert set(found) == set(FILES)
    for name, sheet in found.items():
        head, *rows = sheet[sheet.auto_filter.ref]
        assert sheet.freeze_panes == "A2", name
        assert len(head) == sheet.max_column, name
        assert all(cell.font.bold and cell.value for cell in head), name
        assert all(6 <= sheet.column_dimensions[cell.column_letter].width <= 60 for cell in head), name
        texts = [cell.value for row in rows for cell in row if cell.data_type == "s"]
        if FILES[name]:  # a template's examples are what a person types
            assert [text for text in texts if DATE_OR_NUMBER.match(text)] == [], name
        named = {cell.value: cell for cell in head}
        for title in {"Member ID", "Member code", "Group ID", "Area ID"} & set(named):
            assert {row[head.index(named[title])].number_format for row in rows} <= {"@"}, (name, title)
    with tenant_scope(evil.tenant):
        end = local(Member.objects.get().use_date_end).replace(tzinfo=None, microsecond=0)
    assert end in {cell.value for cell in found["members:index"][2]}, "Japan's clock"
    assert [cell.number_format for cell in found["guests:month_file"][2]] == ["yyyy-mm-dd", *["#,##0"] * 5, "@"]
    kinds = {name: {cell.data_type for row in sheet.iter_rows() for cell in row} for name, sheet in found.items()}
    dated = {"members:index", "members:leavers", "members:leavers_of", "guests:building_file", "guests:month_file"}
    assert {name for name, types in kinds.items() if "d" in types} == dated


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_portal_recognises_its_own_files_of_people_by_their_headings(evil, language, kind):
    browser, recognised = evil.client(), set()
    browser.cookies["django_language"] = language
    for address in reads():
        if address.name in FILES and (path := path_of(address, evil, kind)):
            held = cells(browser.get(path, {"export": kind}), kind)
            if is_portal_file([str(getattr(cell, "value", cell)) for cell in held]):
                recognised.add(address.name)
    assert recognised == PEOPLE


@pytest.mark.parametrize("method", ["get", "head"])
def test_an_old_session_takes_no_file_along(evil, method):
    browser, before = aged(evil.owner, 360), entries(evil)
    asked = set()
    for address in reads():
        if address.name in FILES and (path := path_of(address, evil, "csv")):
            answer = getattr(browser, method)(path, {"export": "csv"})
            asked |= {address.name} if answer.get("Location", "").startswith("/accounts/reauthenticate/") else set()
    assert asked == {name for name, holds_data in FILES.items() if holds_data}
    assert entries(evil) == before


def test_whoever_may_not_export_sees_the_list_and_is_not_asked(evil):
    with tenant_scope(evil.tenant):
        answer = aged(staff_of(evil.tenant, "support"), 360).get(f"/t/{evil.tenant.slug}/members/", {"export": "csv"})
    assert answer.status_code == 200
    assert "Content-Disposition" not in answer


def test_the_audit_log_says_who_took_what(evil):
    evil.client().get(f"/t/{evil.tenant.slug}/groups/", {"export": "csv", "q": "HYPER"})
    with tenant_scope(evil.tenant):
        entry = AuditEntry.objects.get(action="groups.export")
    assert entry.by == evil.owner
    assert entry.after == {"rows": 1, "filter": "q=HYPER", "format": "csv"}


def test_there_is_no_second_writer():
    found = {module.name for module in sources("portal", "tenants") if MAKERS.search(module.text)}
    assert found == WRITERS


def test_every_address_of_a_file_is_tried():
    named = {each.name for each in reads() if "kind>" in each.route}
    no_files = {"guests:code_file", "guests:refresh", "mirror:refresh", "reports:new", "reports:schedule"}
    assert named - no_files <= set(FILES) | TRIED_ELSEWHERE
