"""What people type, and the stored names, codes and groups that it means."""

import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.domain.people import queries
from portal.domain.people.text_folding import fold, search_terms, stored_forms
from portal.domain.sync import local_writes
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer

SAME = [
    ("jose alvarez", "José Álvarez"),
    ("jose", unicodedata.normalize("NFD", "José")),
    ("muller", "Müller"),
    ("MULLER", "MÜLLER"),
    ("strasse", "Straße"),
    ("lukasz zak", "Łukasz Żak"),
    ("soren aeblegard", "Søren Æblegård"),
    ("coeur", "Cœur"),
    ("dordevic", "Đorđević"),
    ("dinh", "Đinh"),
    ("nguyen thi hong anh", "Nguyễn Thị Hồng Ánh"),
    ("isik", "Işık"),
    ("istanbul", "İstanbul"),
    ("thorunn gudmundsdottir", "Þórunn Guðmundsdóttir"),
    ("memmedov", "Məmmədov"),
    ("capek", "Čapek"),
    ("sjogren", "Sjögren"),
    ("ελενη", "Ελένη"),
    ("семенов", "Семёнов"),
    ("محمد", "مُحَمَّد"),
    ("احمد", "أحمد"),
    ("דוד", "דָּוִד"),
    ("o'brien", "O’Brien"),
    ("o'brien", "O‘Brien"),
    ("o`brien", "OʼBrien"),
    ("o´brien", "O＇Brien"),
    ("葛󠄀城", "葛城"),
    ("葛城", "葛󠄁城"),
    ("辻︀", "辻"),
    ("yui ~", "Yui 〜"),
    ("yui 〜", "Yui ～"),
    ("ex7～1", "EX7〜1"),
    ("mac", "M\u200ba\u200dc"),
    ("jean", "\ufeffJe\u00adan\u200e"),
    ("ex1003", "EX\u20601003"),
    ("ex1001", "EX1001\u00a0\u3000"),
    ("ﾔﾏﾀﾞ", "ヤマダ"),
    ("やまだ", "ヤマダ"),
    ("Ｅ００１", "e001"),
    ("高橋", "髙橋"),
    ("ra-7", "RA‐7"),
    ("コーヒー", "ｺｰﾋｰ"),
    ("ﬁsher", "Fisher"),
]
DIFFERENT = [
    ("か", "が"),
    ("は", "ぱ"),
    ("ハナ", "バナ"),
    ("ー", "〜"),
    ("й", "и"),
    ("나", "낙"),
    ("กา", "กี"),
    ("0", "o"),
    ("l", "1"),
]


@pytest.mark.parametrize(("typed", "stored"), SAME)
def test_these_are_the_same_for_people_who_search(typed: str, stored: str) -> None:
    assert fold(typed) == fold(stored)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_these_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_a_name_is_the_same_however_its_accents_are_written(name: str) -> None:
    assert fold(unicodedata.normalize("NFD", name)) == fold(unicodedata.normalize("NFC", name))
    assert "\u200b" not in fold(name)
    assert stored_forms(name)[0] == fold(name)[:200]


def test_plain_words_are_stored_in_one_form_and_accented_ones_may_be_in_two() -> None:
    assert stored_forms("山田 Taro") == ["山田taro"]
    assert stored_forms("José") == ["jose", "josé"]


def test_a_word_that_is_typed_twice_is_searched_once() -> None:
    assert search_terms("José jose  \u200b 山田 JOSE") == ["jose", "山田"]


NAMES = {
    "m1": {"member_name": "José Álvarez"},
    "m2": {"member_name": "Müller", "member_code": "EX7〜1"},
    "m3": {"member_name": "Łukasz Żak"},
    "m4": {"member_name": "Søren O’Brien"},
    "m5": {"member_name": "Yui 〜"},
    "m6": {"member_name": "葛󠄀城 かな"},
    "m7": {"member_name": "Ana 가"},
}
FINDS = [
    ("jose", "m1"),
    ("José", "m1"),
    ("alvarez", "m1"),
    ("áLVAREZ", "m1"),
    ("MULLER", "m2"),
    ("mü", "m2"),
    ("lukasz z", "m3"),
    ("ż", "m3 m1"),
    ("søren o'b", "m4"),
    ("o´brien", "m4"),
    ("yui ～", "m5"),
    ("yui ~", "m5"),
    ("ex7～1", "m2"),
    ("葛城", "m6"),
    ("葛󠄁城", "m6"),
    ("か", "m6"),
    ("が", ""),
]


@pytest.mark.parametrize(("typed", "found"), FINDS)
def test_members_are_found_as_people_type_them(customer: MakeCustomer, typed: str, found: str) -> None:
    here = customer()
    with tenant_scope(here.tenant):
        local_writes.apply_member_writes(here.tenant, NAMES.items(), created=True)
        assert _ids(queries.search_members(queries.members(), typed)) == sorted(found.split())


def _ids(rows: Iterable[queries.Member]) -> list[str]:
    return sorted(row.member_id for row in rows)
