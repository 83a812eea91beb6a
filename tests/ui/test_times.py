"""How times are written, up to both ends of the calendar."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from portal.base.ui import times

ENDS = [
    end.replace(tzinfo=zone)
    for end in (datetime.min, datetime.max)  # noqa: DTZ901 - each zone is set above
    for zone in (None, UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14)), times.TOKYO)
]


@pytest.mark.parametrize("moment", ENDS, ids=str)
def test_the_first_and_last_hours_of_the_calendar_are_written_like_any_other(moment: datetime) -> None:
    assert times.local(moment).year == moment.year
    for write in (times.time_tag, times.clock_tag):
        assert f"{moment.year:04}-" in write(moment)


@pytest.mark.parametrize(
    "text",
    [
        "9999-12-31T23:59:59-14:00",
        "9999-12-31",
        "0001-01-01T00:00:00+14:00",
        "1899-12-31T23:59",
        "now",
        "",
        "9" * 5_000,
    ],
)
def test_what_is_no_moment_or_too_far_away_is_not_read(text: str) -> None:
    assert times.parse_moment(text) is None


def test_a_moment_is_read_whatever_its_offset() -> None:
    assert times.parse_moment("2026-11-23T10:00:00+23:59") == datetime(2026, 11, 22, 10, 1, tzinfo=UTC)
    assert times.parse_moment("2026-11-23T10:00") == datetime(2026, 11, 23, 1, 0, tzinfo=UTC)
