"""Cells that look like formulas are preserved in exports and imports; other files are not changed."""

import pytest
from django.utils import translation
from hypothesis import example, given
from hypothesis import strategies as st

from portal.base.files.writing import escape_formula, is_portal_file, unescape_formula
from portal.members.lists import Members


@given(st.text(max_size=40))
@example("=1+1")
def test_whatever_is_guarded_comes_back_as_it_was(cell):
    assert unescape_formula(escape_formula(cell)) == cell


@pytest.mark.parametrize("first", "=+-@＝＋－＠\t\r\n\v\f")
def test_no_beginning_of_a_formula_goes_out_alive_in_either_width(first):
    assert escape_formula(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_export_of_members_is_recognised_by_its_headings_in_either_language(language):
    with translation.override(language):
        labels = [str(column.label) for column in Members.columns if column.export]
    assert is_portal_file(labels)


def test_other_peoples_headings_are_not_ours():
    assert not is_portal_file(["Name", "Member ID", "Status"])
    assert not is_portal_file(["氏名", "会員コード"])


@pytest.mark.parametrize(
    "headings",
    [["会員ID", "認証手段", "有効性"], ["Member ID", "Credentials", "Validity"], ["氏名", "理由（取込対象外）"]],
)
def test_files_with_former_headings_are_still_ours(headings):
    assert is_portal_file(headings)
