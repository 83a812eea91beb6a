"""Which column holds what, by its heading: English and Japanese, whatever case, width and punctuation."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from portal.core.files.writing import is_reason
from portal.core.mirror.fields import guests
from portal.core.mirror.fields.field import Cell, key, meanings

FIELDS = (
    Cell(
        ("Name", "氏名"),
        "guest, guest name, full name, visitor, visitor name, 名前, お名前, ゲスト, ゲスト名, 来訪者, 来訪者名, "
        "来客名, 訪問者, 訪問者名",
        ("Aiko Tanaka", "田中 愛子"), "name", guests.GUEST_NAME.label,
    ),
    Cell(
        ("E-mail", "メール"), "mail, e-mail address, mail address, メールアドレス, Eメール",
        ("aiko@example.com", "aiko@example.com"), "email", guests.EMAIL.label,
    ),
    Cell(
        ("Company", "会社"), "organisation, organization, company name, 会社名, 所属, 企業名, 団体名",
        ("Mirai Ltd.", "株式会社みらい"), "company", _("Company"),
    ),
    Cell(("Date", "日付"), "day, visit date, 来訪日, 訪問日, 来社日", ("", ""), "date", _("Date")),
    Cell(
        ("Start", "開始"),
        "from, begin, start time, arrival, 開始日時, 開始時刻, 来訪日時, 訪問日時, 来訪時刻, 利用開始, 利用開始日時",
        ("2026-12-01 13:00", "2026-12-01 13:00"), "start", _("Start"),
    ),
    Cell(
        ("End", "終了"), "until, to, end time, 終了日時, 終了時刻, 退館予定, 利用終了, 利用終了日時",
        ("15:00", "15:00"), "end", _("End"),
    ),
    Cell(
        ("Host", "訪問先"), "visits, host name, contact, ホスト, 担当者, 訪問先担当者, 面会者, 受入担当者",
        ("Ichiro Suzuki", "鈴木 一郎"), "host", _("Host"),
    ),
    Cell(("Preset", "プリセット"), "template, type, 種別, テンプレート, 区分", ("", ""), "preset", _("Preset")),
    Cell(
        ("Remarks", "備考"), "remark, note, notes, comment, メモ, 連絡事項", ("", ""), "remarks", guests.REMARKS.label,
    ),
)  # fmt: skip
BY_NAME = {field.name: field for field in FIELDS}
_MEANINGS = meanings(FIELDS)


def places(headings: Sequence[str]) -> dict[str, int]:
    """Field -> place of its column; of two columns that mean the same the first counts."""
    found: dict[str, int] = {}
    for place, heading in enumerate(headings):
        meaning = "" if is_reason(heading) else _MEANINGS.get(key(heading), "")
        if meaning:
            found.setdefault(meaning, place)
    return found


def unknown(headings: Sequence[str]) -> list[str]:
    """Headings of columns that are left out."""
    taken = set(places(headings).values())
    return [name for place, name in enumerate(headings) if name.strip() and place not in taken and not is_reason(name)]
