"""Events of log records: in the reader's words wherever records are shown, and found by the words of both languages."""

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from portal.domain.history import search
from portal.domain.history.event_words import event_text
from portal.domain.history.models import History
from portal.domain.people.models import Refolding
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.members import said

NOW = timezone.now()
SATO = {"member_id": "m-1", "member_name": "佐藤 花子"}
KEY = {"units": [{"unit_no": "03", "unit_name": "倉庫"}]}
HELD = "Remote cont_unlock succeeded; manager@sakura.example; request r34ddd0"


@pytest.fixture
def place(make):
    place = make(members=1)
    loaded(place)
    return place


def words(place, language, **values):
    with override(language), tenant_scope(place.tenant):
        return str(event_text(happened(place, record(NOW, **values))[0]))


@pytest.mark.parametrize(
    ("values", "english", "japanese"),
    [
        ({"content": "Entry", **SATO}, "Entry", "入室"),
        ({"content": "Exit", **SATO}, "Exit", "退室"),
        ({"content": "Door forced open", "category": "emergency"}, "Door forced open", "扉のこじ開け"),
        ({"content": "Door open too long", "category": "warning"}, "Left open", "閉め忘れ"),
        ({"content": "Key taken", **SATO, **KEY}, "Key taken", "鍵の持ち出し"),
        ({"content": "Key returned", **SATO, **KEY}, "Key returned", "鍵の返却"),
        (
            {"content": "Refused: no access right for it.", "category": "warning", **SATO},
            "Refused: no access right",
            "拒否：権限なし",
        ),
        (
            {"content": HELD, "category": "operation"},
            "Held unlocked from the portal by manager@sakura.example",
            "遠隔操作：連続解錠（manager@sakura.example）",
        ),
        (
            {"content": "Remote unlock failed; request r34ddd0", "category": "operation"},
            "Remote command failed: unlock",
            "遠隔操作の失敗：解錠",
        ),
        (
            {"content": "Remote unlock succeeded; request r34ddd0", "category": "operation", **KEY},
            "Key released remotely",
            "遠隔操作：鍵の取り出し許可",
        ),
    ],
)
def test_an_event_is_a_sentence_in_the_readers_language(place, values, english, japanese):
    assert words(place, "en", **values) == english
    assert words(place, "ja", **values, history_id="again") == japanese


def test_an_unknown_text_is_kept_in_code_type(place, manager):
    happened(place, record(NOW, history_id="odd", content="満月です"))
    happened(place, record(NOW, history_id="no", content="Moon is full", category="warning", **SATO))
    page = manager.get(reverse("history:index", args=[place.tenant.slug])).content.decode()
    assert "<code>満月です</code>" in page
    assert "Refused: <code>Moon is full</code>" in page


def test_the_services_text_is_on_the_records_page_and_not_in_the_list(place, manager):
    happened(place, record(NOW, history_id="held", content=HELD, category="operation"))
    index = reverse("history:index", args=[place.tenant.slug])
    assert "r34ddd0" not in manager.get(index).content.decode()
    page = manager.get(reverse("history:record", args=[place.tenant.slug, "held"]))
    assert f"<code>{HELD}</code>" in page.content.decode()
    assert "Held unlocked from the portal by manager@sakura.example" in said(page)


@pytest.mark.parametrize("text", ["こじ開け", "forced", "入室", "Entry", "権限なし", "連続解錠"])
def test_a_record_is_found_by_its_event_in_both_languages(place, manager, text):
    happened(
        place,
        record(NOW, history_id="forced", content="Door forced open", category="emergency"),
        record(NOW, history_id="entry", content="Entry", **SATO),
        record(NOW, history_id="no", content="Refused: no access rights.", category="warning", **SATO),
        record(NOW, history_id="held", content=HELD, category="operation"),
    )
    page = manager.get(reverse("history:index", args=[place.tenant.slug]), {"q": text}).content.decode()
    name = {"こじ開け": "forced", "forced": "forced", "権限なし": "no", "連続解錠": "held"}.get(text, "entry")
    assert f'data-id="{name}"' in page
    assert page.count(' data-id="') == 1


def test_older_records_get_the_words_of_their_events_in_the_background(place):
    row = happened(place, record(NOW, content="Door forced open", category="emergency"))[0]
    with tenant_scope(place.tenant):
        History.objects.filter(pk=row.pk).update(text_key="doorforcedopen")
        search.fold_records(None)
        assert "こじ開け" in History.objects.get(pk=row.pk).text_key
        assert not Refolding.objects.filter(table="records").exists()
