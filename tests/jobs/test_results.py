"""What an item in the result of a bulk request means for its row."""

import pytest

from accessapi.resources.requests import BulkItem
from portal.domain.jobs.models import Action, Row, RowState
from portal.domain.jobs.results import _row_result


@pytest.mark.parametrize("status", ["succeeded", "failed"])
def test_a_result_that_names_another_member_than_its_place_says_nothing(status):
    """Check this because results are in the order of the request; if not, the portal reads the members."""
    row = Row(member_id="m-1", action=Action.UPDATE, content={})
    assert _row_result(row, BulkItem.model_validate({"member_id": "m-2", "status": status})) is None


@pytest.mark.parametrize("named", [{}, {"member_id": ""}, {"member_id": None}, {"member_id": "m-1"}])
def test_one_that_names_nobody_or_the_right_one_counts(named):
    row = Row(member_id="m-1", action=Action.UPDATE, content={})
    (_, state, *_, member_id) = _row_result(row, BulkItem.model_validate({"status": "succeeded", **named}))
    assert (state, member_id) == (RowState.SUCCEEDED, "m-1")
