"""The columns of a file are recognised: of the portal's own exports, and of those of other products."""

import pytest
from django.utils import translation

from portal.base.ui.tables.table import Table
from portal.domain.jobs.models import Action
from portal.imports import columns
from portal.imports.actions import MEMBERS
from portal.imports.forms import ColumnsForm
from portal.imports.models import KIND
from portal.imports.products import find_product
from portal.members.lists import _SECRETS
from tests.imports.conftest import lines

FILES = {
    "Kisi": (
        "id,name,email,role_id,group_ids,access_enabled,credential_token,valid_until",
        "{n},Aya Sample {n},aya{n}@example.com,user,,true,4455{n:04d},",
        "{n},Aya Sample {n},aya{n}@example.com,user,,false,4455{n:04d},",
    ),
    "HID": (
        "FirstName,LastName,Email,Employer,EmployeeType,EmployeeID,StartDate,Credential Number",
        "Aya {n},Sample,aya{n}@example.com,,Employee,H{n:04d},04/14/2027,77{n:05d}",
        "Aya {n},Sample,aya{n}@example.com,,Contractor,H{n:04d},04/05/2027,77{n:05d}",
    ),
    "Openpath / Avigilon Alta": (
        "First Name,Middle Name,Last Name,Email,External ID,Start Date,End Date,Groups,Card Number",
        "Aya {n},M,Sample,aya{n}@example.com,O{n:04d},2027-04-01,,,66{n:05d}",
        "Aya {n},,Sample,aya{n}@example.com,O{n:04d},2027-04-01T09:00:00Z,2028-03-31,,66{n:05d}",
    ),
    "Verkada": (
        "firstName,lastName,email,employeeId,accessGroups,cardFormat,facilityCode,cardNumber,cardNumberHex",
        "Aya {n},Sample,aya{n}@example.com,V{n:04d},,HID26Bit,12,55{n:05d},",
        "Aya {n},Sample,,V{n:04d},,HID26Bit,12,55{n:05d},",
    ),
    "SPLATS": (
        "member_id,member_name,member_code,membergroup_id,membergroup_name,card_data,use_date_start,use_date_end",
        ",佐藤 花子{n},S{n:04d},,,0012{n:06d},2027-04-01T00:00:00+09:00,",
        ",佐藤 花子{n},S{n:04d},,,0012{n:06d},2027-04-01T00:00:00+09:00,2028-03-31T23:59:59+09:00",
    ),
}


def content_of(product, people):
    heading, *forms = FILES[product]
    return "\n".join([heading, *(forms[n % 2].format(n=n) for n in range(people))]) + "\n"


def choose(desk, job, **changed):
    """Return the form of the columns as a person sends it, with a default group."""
    shown = ColumnsForm(job)
    posted = {name: str(shown[name].value() or "") for name in shown.fields}
    return ColumnsForm(job, {**posted, "default_group": desk.groups[0].membergroup_id, **changed})


@pytest.mark.parametrize("product", FILES)
def test_an_untouched_export_of_another_product_is_understood(desk, product):
    job = desk.upload(content_of(product, 40))
    assert find_product(job.sheet.file.headings).name == product
    form = choose(desk, job)
    assert form.is_valid(), form.errors
    checked = desk.check(job, form.chosen, form.cleaned_data["default_group"], form.options)
    rows = desk.rows(checked)
    assert {row.action for row in rows} == {Action.CREATE}, [row.problems for row in rows if row.problems][:3]
    assert all(row.content["body"]["member_name"] and row.content["body"]["card_data"] for row in rows)
    assert not any("qrcode" in row.content["body"] for row in rows), "no address gets a code by itself"


def test_the_names_of_an_export_are_joined_in_the_chosen_order(desk):
    job = desk.upload(content_of("Verkada", 1))
    for order, name in (("given", "Aya 0 Sample"), ("family", "Sample Aya 0")):
        form = choose(desk, job, name_order=order)
        assert form.is_valid(), form.errors
        row = desk.rows(desk.check(job, form.chosen, form.cleaned_data["default_group"], form.options))[0]
        assert row.content["body"]["member_name"] == name


def test_japanese_parts_of_a_name_begin_with_the_family(desk):
    job = desk.upload(lines(["名", "姓", "社員番号"], ["花子", "佐藤", "N-1"]))
    form = choose(desk, job)
    assert form.is_valid()
    row = desk.rows(desk.check(job, form.chosen, form.cleaned_data["default_group"], form.options))[0]
    assert row.content["body"]["member_name"] == "佐藤 花子"


@pytest.mark.parametrize(
    ("days", "order"),
    [
        (["3/4/2027", "25/12/2027"], "dmy"),
        (["3/4/2027", "12/25/2027"], "mdy"),
        (["2027/3/4"], ""),
        (["令和9年3月4日"], ""),
    ],
)
def test_the_order_of_dates_is_found_in_the_file(desk, days, order):
    job = desk.upload(lines(["氏名", "利用終了日"], *[[f"n{n}", day] for n, day in enumerate(days)]))
    form = choose(desk, job)
    assert form.is_valid(), form.errors
    assert form.options.get("date_order", "") == order


def test_an_order_that_the_file_does_not_show_is_asked(desk):
    job = desk.upload(lines(["氏名", "利用終了日"], ["a", "3/4/2027"], ["b", "5/6/2027"]))
    form = choose(desk, job)
    assert not form.is_valid()
    assert "date_order" in form.errors
    form = choose(desk, job, date_order="dmy")
    assert form.is_valid(), form.errors
    row = desk.rows(desk.check(job, form.chosen, form.cleaned_data["default_group"], form.options))[0]
    assert row.content["body"]["use_date_end"] == "2027-04-03T23:59:59+09:00"


@pytest.mark.parametrize(("headings", "word"), [(["番地", "電話"], "name"), (["氏名", "電話"], "group")])
def test_a_required_column_that_is_missing_is_refused_before_the_check(desk, headings, word):
    job = desk.upload(lines(headings, ["a", "b"]))
    form = choose(desk, job, default_group="")
    assert not form.is_valid()
    assert word in str(form.non_field_errors())


def exported_headings():
    for language in ("en", "ja"):
        with translation.override(language):
            yield language, [str(each.label) for each in (*Table.registry["members"].columns, *_SECRETS)]


def test_every_column_that_the_list_exports_is_read_or_named_as_left_out(desk):
    needed = {"member_id", "member_name", "member_code", "group", "use_date_start", "use_date_end", "card_data"}
    for language, headings in exported_headings():
        found = columns.guess_columns(KIND, headings)
        assert found.keys() >= needed, language
        left = [heading for place, heading in enumerate(headings) if place not in found.values()]
        assert all(map(columns.is_export_only, left)), (language, left)


def test_a_choice_of_columns_is_remembered_for_each_kind_of_files(desk):
    job = desk.upload(lines(["氏名", "番号"], ["a", "N-1"]))
    desk.check(job, {"member_name": 0, "member_code": 1}, desk.groups[0].membergroup_id)
    assert columns.guess_columns(KIND, ["番号", "氏名"]) == {"member_code": 0, "member_name": 1}
    assert columns.guess_columns("expected", ["番号", "氏名"]) == {"name": 1}
    assert "family_name" in {each.name for each in MEMBERS.columns}


def test_a_column_that_a_person_left_out_is_left_out_again(desk):
    job = desk.upload(lines(["氏名", "グループ", "カード番号"], ["a", "無い", "1"]))
    desk.check(job, {"member_name": 0}, desk.groups[0].membergroup_id)
    assert columns.guess_columns(KIND, ["氏名", "グループ", "カード番号"]) == {"member_name": 0}
    assert columns.guess_columns(KIND, ["カード番号", "カード"]) == {"card_data": 1}


def test_a_column_that_another_product_uses_otherwise_is_left_out(desk):
    headings = FILES["Verkada"][0].split(",")
    found = columns.guess_columns(KIND, [*headings, "department"])
    assert found["group"] == headings.index("accessGroups")
