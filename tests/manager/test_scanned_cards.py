"""A facility manager finds a member by a card, read by a scanner that types through any keyboard layout."""

from urllib.parse import urlencode

import pytest

from portal.domain.sync import local_writes
from tests.support.members import MembersDesk

HINT = "This looks like a card read with another keyboard layout."


@pytest.fixture
def desk(make):
    desk = MembersDesk(make(members=3))
    with desk.scope():
        local_writes.apply_member_write(
            desk.place.tenant, "m-1", {"member_name": "Nuru Otieno", "card_data": "CAFE00000013"}, created=True
        )
        local_writes.apply_member_write(
            desk.place.tenant, "m-2", {"member_name": "Wen Li", "card_data": "0987654321"}, created=True
        )
        local_writes.apply_member_write(
            desk.place.tenant, "m-3", {"member_name": "Aki Sato", "card_data": "YZ-01234"}, created=True
        )
    return desk


@pytest.mark.parametrize(
    "typed",
    [
        "CAFE00000013",
        "cafe00000013",
        "ＣＡＦＥ００００００１３",
        "CAFE00000013\t",
        " cafe00000013\r\n",
        "CQFE00000013",  # French, with Caps Lock
        "CQFEàààààà&\"",
        "CAFEàààààà&\"",
        "CAFEàààààà&\"\t",
        "cqfeàààààà&\"",
        "CAFEéééééé+š",  # Czech
        "そちはいわわわわわわぬあ",
        "ソチハイワワワワワワヌア",
        "ｿﾁﾊｲﾜﾜﾜﾜﾜﾜﾇｱ",
        "ソチハィヲヲヲヲヲヲヌァ",  # kana with Shift
        "CAFE))))))!#",
        "CAFE======!§",
    ],
)  # fmt: skip
def test_a_card_is_found_through_any_layout(desk, typed):
    assert desk.names(q=typed) == ["Nuru Otieno"]


@pytest.mark.parametrize(
    "typed", ["àç_è-('\"é&", "わよゆやおえうあふぬ", "ワヨユヤオエウアフヌ", ")(*&^%$#@!", '=)(/&%$§"!']
)
def test_a_card_of_digits_is_found_through_any_layout(desk, typed):
    assert desk.names(q=typed) == ["Wen Li"]


@pytest.mark.parametrize("typed", ["ZYß01234", "YW)à&é\"'"])  # German, French
def test_letters_and_signs_that_are_elsewhere_on_the_keyboard_are_translated(desk, typed):
    assert desk.names(q=typed) == ["Aki Sato"]


@pytest.mark.parametrize("typed", ["BEBEàààààà&", "ぬふあうえおやゆ", '!"§$%&/(', 'àà&"'])
def test_an_unknown_card_in_another_layout_is_named_as_such(desk, typed):
    assert HINT in desk.get(q=typed)
    palette = desk.client.get(f"/t/{desk.place.tenant.slug}/find/?{urlencode({'q': typed})}").content.decode()
    assert HINT in palette


@pytest.mark.parametrize("typed", ["04A1B2C3", "やまだたろう", "うえおか ゆうや", "José 123", "O’Brien", "EZ00123"])
def test_other_searches_without_a_result_give_no_such_hint(desk, typed):
    page = desk.get(q=typed)
    assert "No results" in page
    assert HINT not in page


def test_people_who_may_not_see_cards_learn_nothing_of_them(desk):
    auditor = desk.place.client(desk.place.staff("auditor"))
    for typed in ("CAFE00000013", 'CAFEàààààà&"', "BEBEàààààà&"):
        page = auditor.get(desk.url, {"q": typed}).content.decode()
        assert "No results" in page
        assert "Nuru Otieno" not in page
        assert HINT not in page


def test_the_palette_finds_the_holder_of_such_a_card(desk):
    found = desk.client.get(f"/t/{desk.place.tenant.slug}/find/", {"q": 'CAFEàààààà&"'}).content.decode()
    assert "Nuru Otieno" in found


def test_a_member_of_that_name_comes_before_a_card(desk):
    with desk.scope():
        local_writes.apply_member_write(
            desk.place.tenant, "m-4", {"member_name": "Crew", "member_code": "YW)à&é\"'"}, created=True
        )
    assert desk.names(q="YW)à&é\"'") == ["Crew"]
