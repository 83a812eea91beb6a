"""The dry run: which rows would be created, changed, unchanged or refused, with the field and the reason."""

import pytest

from accessapi import limits
from portal.domain.jobs import queries
from portal.domain.jobs.models import Action, Job, JobState, Row
from portal.domain.people.models import Member
from portal.imports import actions, checking
from tests.imports.conftest import lines

HEADINGS = ["氏名", "社員番号", "グループ", "カード番号", "利用開始日", "利用終了日"]


def words(row):
    return [(field, word) for field, word, _facts in row.problems]


def test_new_changed_unchanged_and_refused_rows_are_told_apart(desk, somebody):
    group, member = desk.groups[0].membergroup_name, somebody()
    job = desk.checked(
        lines(
            HEADINGS,
            ["新人 花子", "N-0001", group, "", "2026-12-01", ""],
            ["別の名前", member.member_code, "", "", "", ""],
            ["誰か", "N-0002", "無い組", "", "", ""],
        )
    )
    assert job.state == JobState.CHECKED
    new, changed, refused = desk.rows(job)
    assert (new.action, changed.action, refused.action) == (Action.CREATE, Action.UPDATE, Action.REFUSED)
    assert new.content["body"]["use_date_start"] == "2026-12-01T00:00:00+09:00"
    assert changed.content["body"] == {"member_name": "別の名前"}
    assert changed.content["old"] == {"member_name": member.member_name}
    assert words(refused) == [("group", "no_such_group")]
    assert desk.calls(13) == desk.calls(14) == 0


def test_a_row_that_says_what_is_known_already_is_unchanged(desk, somebody):
    member = somebody()
    job = desk.checked(
        lines(["member code", "name", "group"], [member.member_code, member.member_name, member.membergroup_id])
    )
    assert desk.rows(job)[0].action == Action.SAME


def test_leading_zeros_and_case_stay_as_they_are(desk):
    group = desk.groups[0].membergroup_name
    job = desk.checked(lines(HEADINGS, ["a", "00042", group, "0000aBcD", "", ""]))
    body = desk.rows(job)[0].content["body"]
    assert (body["member_code"], body["card_data"]) == ("00042", "0000aBcD")


@pytest.mark.parametrize(
    ("field", "column", "most"),
    [
        ("member_name", 0, limits.MEMBER_NAME_MAX),
        ("member_code", 1, limits.MEMBER_CODE_MAX),
        ("card_data", 3, limits.CARD_DATA_MAX),
    ],
)
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_every_limit_at_its_bound(desk, field, column, most, over):
    cells = ["名", "c1", desk.groups[0].membergroup_name, "", "", ""]
    cells[column] = "字" * (most + over)
    row = desk.rows(desk.checked(lines(HEADINGS, cells)))[0]
    if over <= 0:
        assert row.action == Action.CREATE
    else:
        assert words(row) == [(field, "string_too_long")]
        assert row.problems[0][2] == {"max_length": most}


@pytest.mark.parametrize(
    ("start", "end", "wanted"),
    [
        ("2026-12-01", "2026-12-01", ("2026-12-01T00:00:00+09:00", "2026-12-01T23:59:59+09:00")),
        ("2026/12/1", "2026/12/1 18:30", ("2026-12-01T00:00:00+09:00", "2026-12-01T18:30:00+09:00")),
        ("2026-12-01 09:00", "２０２７年３月３１日", ("2026-12-01T09:00:00+09:00", "2027-03-31T23:59:59+09:00")),
        (
            "2026-12-01T00:00:00Z",
            "2026-12-02T00:00:00+09:00",
            ("2026-12-01T09:00:00+09:00", "2026-12-02T00:00:00+09:00"),
        ),
    ],
)
def test_dates_as_people_write_them(desk, start, end, wanted):
    row = desk.rows(desk.checked(lines(HEADINGS, ["a", "c", desk.groups[0].membergroup_id, "", start, end])))[0]
    assert (row.content["body"]["use_date_start"], row.content["body"]["use_date_end"]) == wanted


@pytest.mark.parametrize("text", ["tomorrow", "2026-13-01", "2026-02-30", "R8.11.32", "20261301", "2026-12-01 25:00"])
def test_what_is_no_date_is_refused(desk, text):
    row = desk.rows(desk.checked(lines(HEADINGS, ["a", "c", desk.groups[0].membergroup_id, "", text, ""])))[0]
    assert words(row) == [("use_date_start", "moment")]


def test_a_period_that_ends_before_it_begins_is_refused(desk):
    group = desk.groups[0].membergroup_id
    row = desk.rows(desk.checked(lines(HEADINGS, ["a", "c", group, "", "2026-12-02", "2026-12-01"])))[0]
    assert words(row) == [("use_date_end", "ends_before")]


def test_a_new_member_without_name_or_group_is_refused_with_both(desk):
    row = desk.rows(desk.checked(lines(HEADINGS, ["", "c-9", "", "", "", ""])))[0]
    assert sorted(words(row)) == [("group", "missing"), ("member_name", "missing")]


def test_a_group_for_those_without_one(desk):
    group = desk.groups[0].membergroup_id
    row = desk.rows(desk.checked(lines(HEADINGS, ["a", "c-9", "", "", "", ""]), default_group=group))[0]
    assert row.content["body"]["membergroup_id"] == group


def test_a_group_of_which_nobody_knows_gets_a_hint(desk):
    name = desk.groups[0].membergroup_name
    row = desk.rows(desk.checked(lines(HEADINGS, ["a", "c-9", name + "x", "", "", ""])))[0]
    assert row.problems == [["group", "no_such_group", {"hint": name}]]


def test_the_same_code_or_card_twice_refuses_both_rows_and_names_them(desk):
    group = desk.groups[0].membergroup_id
    job = desk.checked(
        lines(
            HEADINGS, ["a", "D1", group, "", "", ""], ["b", "D1", group, "C1", "", ""], ["c", "D2", group, "c1", "", ""]
        )
    )
    first, second, third = desk.rows(job)
    assert {row.action for row in (first, second, third)} == {Action.REFUSED}
    assert ["member_code", "twice_code", {"line": 3}] in first.problems
    assert ["member_code", "twice_code", {"line": 2}] in second.problems
    assert third.problems == [["card_data", "twice_card", {"line": 3}]]


def test_doubles_far_apart_are_found_too(desk):
    group = desk.groups[0].membergroup_id
    rows = [[f"n{number}", f"code-{number % 1500}", group, "", "", ""] for number in range(1501)]
    job = desk.checked(lines(HEADINGS, *rows))
    assert desk.row(job, 2).problems == [["member_code", "twice_code", {"line": 1502}]]
    assert desk.row(job, 1502).problems == [["member_code", "twice_code", {"line": 2}]]
    assert queries.count_rows(job).by_action(Action.CREATE) == 1499


def test_blank_leaves_and_the_word_clears(desk, somebody):
    member = Member.objects.filter(has_card=True).exclude(member_code="")[0]
    headings = ["社員番号", "氏名", "カード番号", "利用終了日"]
    blank, cleared = (
        desk.rows(desk.checked(lines(headings, [member.member_code, "", *cells])))[0]
        for cells in (["", ""], ["#clear", "#消去"])
    )
    assert blank.action == Action.SAME
    assert cleared.content["body"]["card_data"] == ""
    name = desk.rows(desk.checked(lines(headings, [member.member_code, "#CLEAR", "", ""])))[0]
    assert words(name) == [("member_name", "cannot_clear")]


def test_an_unknown_member_id_is_refused(desk):
    row = desk.rows(desk.checked(lines(["会員ID", "氏名"], ["nobody", "x"])))[0]
    assert ("member_id", "no_such_member") in words(row)


def test_a_card_of_somebody_else_is_noted_and_left_to_the_service(desk):
    card = Member.objects.filter(has_card=True)[0].card_data
    row = desk.rows(desk.checked(lines(HEADINGS, ["a", "c-1", desk.groups[0].membergroup_id, card, "", ""])))[0]
    assert row.action == Action.CREATE
    assert row.notes == [["card_data", "card_of_another", {}]]


def test_no_secret_rests_in_clear(desk):
    from django.db import connection

    job = desk.checked(lines(HEADINGS, ["a", "c-1", desk.groups[0].membergroup_id, "CANARY0123", "", ""]))
    with connection.cursor() as cursor:
        tables = (
            "jobs_row",
            "jobs_job",
            "imports_importchunk",
            "imports_importfile",
            "imports_sheet",
            "imports_columnchoice",
        )
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table} AS t WHERE t::text LIKE '%%CANARY0123%%'")
            assert cursor.fetchone() == (0,)
            cursor.execute(f"SELECT count(*) FROM {table} AS t WHERE t::text LIKE %s", [f"%{b'CANARY0123'.hex()}%"])
            assert cursor.fetchone() == (0,)
    assert desk.rows(job)[0].content["body"]["card_data"] == "CANARY0123"


def test_a_worker_that_dies_is_replaced_and_leaves_nothing_twice(desk, monkeypatch):
    group = desk.groups[0].membergroup_id
    job = desk.upload(lines(HEADINGS, *[[f"n{n}", f"k{n}", group, "", "", ""] for n in range(2500)]))
    actions.choose_columns(by=desk.place.asker, job=job, chosen=job.sheet.columns, default_group="")
    insert, calls = checking.insert_rows, []

    def dies(job, results):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        insert(job, results)

    monkeypatch.setattr(checking, "insert_rows", dies)
    with pytest.raises(KeyboardInterrupt):
        checking.check(job.pk)
    checking.check(job.pk)  # its lease is still valid
    job.refresh_from_db()
    assert job.state == JobState.MAPPED
    Job.objects.filter(pk=job.pk).update(due_at="2026-01-01T00:00:00Z")
    checking.check(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.CHECKED
    assert Row.objects.filter(job=job).count() == 2500


def test_a_file_that_breaks_off_later_is_refused_as_a_whole(desk):
    job = desk.checked(lines(HEADINGS, *[["a", f"k{n}", "g", "", "", ""] for n in range(5000)]) + 'b,"c\n')
    assert (job.state, job.problem["word"]) == (JobState.REFUSED, "quotes")
    assert not Row.objects.filter(job=job).exists()


def test_headings_are_remembered_for_the_tenant(desk):
    job = desk.upload(lines(["Ausweis", "name"], ["X1", "a"]))
    assert job.sheet.columns == {"member_name": 1}
    desk.check(job, columns={"card_data": 0, "member_name": 1}, default_group=desk.groups[0].membergroup_id)
    assert desk.upload(lines(["ausweis", "Name"], ["X2", "b"])).sheet.columns == {"card_data": 0, "member_name": 1}


def test_a_plain_email_column_never_becomes_live_codes_by_itself(desk):
    assert "qr_email" not in desk.upload(lines(["氏名", "メールアドレス"], ["a", "a@example.test"])).sheet.columns
