"""Values from outside are read where possible, and none breaks the code that stores or calculates with it."""

from datetime import date, datetime, timedelta

import pytest

from accessapi import limits, moments
from accessapi.reading import read_json
from accessapi.resources import Group, History, Member
from accessapi.resources.cameras import CameraUsage
from accessapi.resources.received import read_page
from tests.support.extremes import BODIES, MOMENTS, VALUES, nested


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body[:12]!r} {len(body)}")
def test_json_is_read_or_refused_as_a_value_error(body: bytes) -> None:
    try:
        read_json(body)
    except ValueError:
        return


def test_json_may_be_nested_as_deeply_as_anything_sensible_and_no_deeper() -> None:
    for open_, close in (("[", "]"), ('{"a":', "}")):
        assert read_json((open_ * limits.JSON_DEPTH_MAX + "1" + close * limits.JSON_DEPTH_MAX).encode())
        with pytest.raises(ValueError, match="nested"):
            read_json((open_ * (limits.JSON_DEPTH_MAX + 2) + "1" + close * (limits.JSON_DEPTH_MAX + 2)).encode())


@pytest.mark.parametrize("number", ["9" * 5_000, "-" + "9" * 19, "1e999", "NaN", "-Infinity"])
def test_a_number_that_nothing_holds_stays_text_and_stops_nothing_else(number: str) -> None:
    assert read_json(f'[1, {number}, {{"a": 2.5}}]'.encode()) == [1, number, {"a": 2.5}]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:30])
def test_an_odd_value_of_one_field_leaves_the_others_as_they_are(value: str) -> None:
    told = read_json(f'{{"membergroup_id": "g", "membergroup_name": "G", "member_count": {value}}}'.encode())
    group = Group.model_validate(told)
    assert group.membergroup_name == "G"
    assert group.member_count is None or limits.INTEGER_MIN <= group.member_count <= limits.INTEGER_MAX
    told = read_json(f'{{"member_id": "m", "member_name": "M", "use_date_end": {value}}}'.encode())
    member = Member.model_validate(told)
    assert member.member_name == "M"
    assert member.use_date_end is None or 1900 <= member.use_date_end.year <= 9998
    usage = CameraUsage.model_validate(read_json(f'{{"tenant_download_total": {value}}}'.encode()))
    assert usage.tenant_download_total is None or abs(usage.tenant_download_total) <= 2**31


def test_an_identifier_that_no_index_holds_makes_its_row_unreadable_and_no_other() -> None:
    rows = [{"history_id": "界" * 900}, {"history_id": "h"}, {"history_id": "x" * 1001}, {"history_id": "界" * 300}]
    page = read_page({"histories": rows}, "histories", History)
    assert page.readable_rows == [rows[1], rows[3]]
    assert [each.history_id for each in page.items] == ["h", "界" * 300]
    assert page.unreadable_rows == [rows[0], rows[2]]


@pytest.mark.parametrize("text", [*MOMENTS, "", "x", None, 5, 1e300, [], {}, nested(3), "9" * 5_000])
def test_a_moment_can_be_moved_to_any_zone_and_by_a_year_without_leaving_the_calendar(text: object) -> None:
    moment, day = moments.read_moment(text), moments.read_day(text)
    for found in filter(None, (moment, day)):
        assert 1900 <= found.year <= 9998
        assert found - timedelta(days=366) < found < found + timedelta(days=365)
    assert day is None or type(day) is date
    assert moment is None or isinstance(moment, datetime)
