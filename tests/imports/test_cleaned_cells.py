"""What spreadsheets and keyboards add to a cell, or take from it, never changes which person it means."""

import io

import pytest
from openpyxl import Workbook

from portal.domain.jobs.models import Action, Row
from portal.domain.people.models import Member
from portal.imports.lists import findings_texts
from tests.imports.conftest import lines

HEADINGS = ["氏名", "社員番号", "グループ", "カード番号", "QR送付先"]


def words(row):
    return [(field, word) for field, word, _facts in row.problems]


def notes(row):
    return [(field, word) for field, word, _facts in row.notes]


def one(desk, name="新人 花子", code="N-1", card="", email="", **more):
    group = more.pop("group", desk.groups[0].membergroup_name)
    return desk.rows(desk.checked(lines(HEADINGS, [name, code, group, card, email]), **more))[0]


@pytest.mark.parametrize("form", ["{}\u00a0", "\u3000{}", "{}\u200b", "\ufeff{}", "{}\u00ad", "wide", "lower"])
def test_a_code_that_only_looks_different_means_the_same_member(desk, form):
    member = Member.objects.exclude(member_code="").order_by("pk")[0]
    code = member.member_code
    wide = "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in code)
    text = {"wide": wide, "lower": code.lower()}.get(form) or form.format(code)
    row = one(desk, name=member.member_name, code=text, group="")
    assert (row.action, row.member_id) == (Action.SAME, member.member_id)


@pytest.mark.parametrize("codes", [("EX1", "EX1\u00a0"), ("EX1", "ＥＸ１"), ("EX1", "ex1"), ("EX\u200b1", "EX1\u3000")])
def test_two_such_codes_in_one_file_are_named_as_doubles(desk, codes):
    group = desk.groups[0].membergroup_name
    first, second = desk.rows(desk.checked(lines(HEADINGS, *[["a", code, group, "", ""] for code in codes])))
    assert words(first) == words(second) == [("member_code", "twice_code")]


def test_cleaned_values_are_counted_and_shown_with_what_was_there(desk):
    job = desk.checked(lines(HEADINGS, ["\u3000山田 太郎 ", "EX\u200b9", desk.groups[0].membergroup_name, "", ""]))
    row = desk.rows(job)[0]
    assert row.content["body"]["member_name"] == "山田 太郎"
    assert row.content["body"]["member_code"] == "EX9"
    assert row.content["cleaned"]["member_code"] == ["EX\u200b9", "EX9"]
    assert findings_texts(type(job).objects.select_related("sheet").get(pk=job.pk)) == [
        "2 values were cleaned (lines 2)."
    ]


@pytest.mark.parametrize("card", ["1.23457E+11", "8.96529e+15", "1,23457E+11", "1E+12"])
def test_a_card_that_a_spreadsheet_has_rounded_is_refused_with_its_text(desk, card):
    row = one(desk, card=f'"{card}"')
    assert words(row) == [("card_data", "digits_lost")]
    assert row.content["quoted"]["card_data"] == card


@pytest.mark.parametrize("code", ["1.23E+10", "4E+11"])
def test_a_code_that_a_spreadsheet_has_rounded_is_refused(desk, code):
    assert words(one(desk, code=code)) == [("member_code", "digits_lost")]


@pytest.mark.parametrize("card", ["1E05", "00E7", "1234567890123456", "E+11"])
def test_cards_that_only_resemble_such_a_number_are_kept(desk, card):
    assert one(desk, card=card).content["body"]["card_data"] == card


@pytest.mark.parametrize(("card", "is_noted"), [("123457000000000", True), ("8965290000000000", True), ("1000", False)])
def test_a_card_with_many_zeros_at_its_end_is_noted(desk, card, is_noted):
    assert notes(one(desk, card=card)) == [("card_data", "zeros_at_end")] * is_noted


def test_a_few_short_cards_among_long_ones_are_pointed_out(desk):
    group = desk.groups[0].membergroup_name
    rows = [[f"n{n}", f"Z{n}", group, f"{7_000_000_000 + n}", ""] for n in range(9)]
    job = desk.checked(
        lines(HEADINGS, *rows, ["a", "Z10", group, "123456789", ""], ["b", "Z11", group, "12345678", ""])
    )
    job.sheet.refresh_from_db()
    assert job.sheet.findings["short_cards"] == {"n": 2, "digits": 10, "lines": [11, 12]}
    job = desk.checked(lines(HEADINGS, *rows))
    job.sheet.refresh_from_db()
    assert "short_cards" not in job.sheet.findings


@pytest.mark.parametrize("mark", ["\x0b", "\x07", "\u202e", "\u2028", "\t", "\u2067", "\x85"])
def test_a_character_that_no_form_accepts_is_refused_by_the_import_too(desk, mark):
    assert words(one(desk, name=f"山田{mark}太郎")) == [("member_name", "controls")]


@pytest.mark.parametrize("name", ["فاطمه\u200cحسین", "क्\u200dष", "Jose\u0301"])
def test_marks_that_a_script_needs_stay_in_a_name(desk, name):
    assert one(desk, name=name).content["body"]["member_name"] == name.replace("e\u0301", "é")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("taro..test@docomo.ne.jp", "taro..test@docomo.ne.jp"),
        ("jiro.@docomo.ne.jp", "jiro.@docomo.ne.jp"),
        ("-sabu-@ezweb.ne.jp", "-sabu-@ezweb.ne.jp"),
        ("ume＠example.com", "ume@example.com"),
        ("ume@example。com", "ume@example.com"),
        ("ｕｍｅ@example.com\u200b", "ume@example.com"),
    ],
)
def test_addresses_of_carriers_and_of_full_width_letters_are_accepted(desk, text, address):
    assert one(desk, email=text).content["body"]["qrcode"] == {"email": address}


@pytest.mark.parametrize("text", ["taro", "taro@", "@example.com", "ta ro@example.com", "taro@example"])
def test_what_is_no_address_is_refused_with_its_text(desk, text):
    row = one(desk, email=text)
    assert words(row) == [("qr_email", "email")]
    assert row.content["quoted"] == {"qr_email": text}


@pytest.mark.parametrize("shorter", ["42", "7", "00042"[1:]])
def test_a_code_without_its_first_zeros_is_stopped_and_names_the_member_it_resembles(desk, shorter):
    code = shorter.zfill(6)
    member = Member.objects.order_by("pk")[0]
    Member.objects.filter(pk=member.pk).update(member_code=code, code_key=code)
    row = one(desk, code=shorter)
    assert row.problems == [["member_code", "zeros_missing", {"code": code}]]


def test_a_card_that_is_passed_on_within_the_file_is_sent_first_and_not_warned_of(desk):
    giver = Member.objects.filter(has_card=True).exclude(member_code="").order_by("pk")[0]
    card, group = giver.card_data, desk.groups[0].membergroup_name
    job = desk.checked(
        lines(HEADINGS, ["新人", "N-7", group, card, ""], [giver.member_name, giver.member_code, "", "NEW-CARD-1", ""])
    )
    taker, given = desk.rows(job)
    assert notes(taker) == []
    assert (taker.goes_first, given.goes_first) == (False, True)
    assert one(desk, card=card, code="N-8").notes == [["card_data", "card_of_another", {}]]


def test_the_card_arrives_although_its_new_holder_stands_first(desk):
    members = Member.objects.filter(has_card=True).exclude(member_code="").order_by("pk")
    giver, taker = members[0], members[1]
    job = desk.imported(
        lines(["社員番号", "カード番号"], [taker.member_code, giver.card_data], [giver.member_code, "NEW-CARD-2"])
    )
    assert set(Row.objects.filter(job=job).values_list("state", flat=True)) == {"succeeded"}


@pytest.mark.parametrize("text", ["FALSE", "no", "Suspended", "無効", "停止中", "0"])
def test_a_blocked_person_comes_in_without_access(desk, text):
    group = desk.groups[0].membergroup_name
    row = desk.rows(desk.checked(lines(["氏名", "グループ", "Access enabled"], ["a", group, text])))[0]
    assert row.content["body"]["use_date_end"]
    assert notes(row) == [("status", "blocked")]


@pytest.mark.parametrize("text", ["TRUE", "Yes", "Active", "有効", "利用中"])
def test_a_person_with_access_comes_in_without_an_end(desk, text):
    group = desk.groups[0].membergroup_name
    row = desk.rows(desk.checked(lines(["氏名", "グループ", "Status"], ["a", group, text])))[0]
    assert "use_date_end" not in row.content["body"]


def test_an_unknown_word_for_access_is_refused_with_its_text(desk):
    group = desk.groups[0].membergroup_name
    row = desk.rows(desk.checked(lines(["氏名", "グループ", "Status"], ["a", group, "on leave"])))[0]
    assert words(row) == [("status", "status")]
    assert row.content["quoted"] == {"status": "on leave"}


def workbook(*rows, change=lambda sheet: None):
    book, target = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    change(book.active)
    book.save(target)
    return target.getvalue()


def test_a_merged_group_counts_for_all_its_rows(desk):
    first, other = desk.groups[0].membergroup_name, desk.groups[1].membergroup_id
    content = workbook(
        ["Name", "Code", "Group"], ["a", "M1", first], ["b", "M2"], ["c", "M3"], change=lambda s: s.merge_cells("C2:C4")
    )
    rows = desk.rows(desk.checked(content, default_group=other))
    assert {row.content["body"]["membergroup_id"] for row in rows} == {desk.groups[0].membergroup_id}


def test_hidden_rows_are_counted(desk):
    def hide(sheet):
        sheet.row_dimensions[3].hidden = True

    group = desk.groups[0].membergroup_name
    job = desk.checked(workbook(["Name", "Code", "Group"], ["a", "M1", group], ["b", "M2", group], change=hide))
    job.sheet.refresh_from_db()
    assert "1 hidden row is included." in findings_texts(job)


def test_a_title_above_the_headings_is_skipped(desk):
    group = desk.groups[0].membergroup_name
    job = desk.checked(workbook(["Member list, April 2027"], [], ["Name", "Code", "Group"], ["Jun", "M1", group]))
    assert [row.content["body"]["member_name"] for row in desk.rows(job)] == ["Jun"]


@pytest.mark.parametrize("formula", ["=D2", '=B2&" "&C2', "=VLOOKUP(A2,B:C,2,0)"])
def test_the_text_of_a_formula_never_becomes_a_name(desk, formula):
    group = desk.groups[0].membergroup_name
    row = desk.rows(desk.checked(workbook(["Name", "Code", "Group"], [formula, "M1", group])))[0]
    assert words(row)[0] == ("member_name", "no_result")
