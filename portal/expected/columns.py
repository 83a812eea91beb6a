"""Which column holds what, by its heading: English and Japanese, whatever case, width and punctuation."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.core.files.marks import is_reason
from portal.core.mirror.folding import fold


@dataclass(frozen=True)
class Field:
    """A column's meaning. `headings`: in the template, English and Japanese; `example` likewise."""

    name: str
    label: str | Promise
    names: tuple[str, ...]
    headings: tuple[str, str]
    example: tuple[str, str]


FIELDS: tuple[Field, ...] = (
    Field(
        "name", _("Name"),
        ("guest", "guest name", "full name", "visitor", "visitor name", "名前", "お名前", "ゲスト", "ゲスト名",
         "来訪者", "来訪者名", "来客名", "訪問者", "訪問者名"),
        ("Name", "氏名"), ("Aiko Tanaka", "田中 愛子"),
    ),
    Field(
        "email", _("E-mail"),
        ("mail", "e-mail address", "mail address", "メール", "メールアドレス", "Eメール"),
        ("E-mail", "メール"), ("aiko@example.com", "aiko@example.com"),
    ),
    Field(
        "company", _("Company"),
        ("organisation", "organization", "company name", "会社名", "所属", "企業名", "団体名"),
        ("Company", "会社"), ("Mirai Ltd.", "株式会社みらい"),
    ),
    Field(
        "date", _("Date"),
        ("day", "visit date", "日付", "来訪日", "訪問日", "来社日"),
        ("Date", "日付"), ("", ""),
    ),
    Field(
        "start", _("Start"),
        ("from", "begin", "start time", "arrival", "開始日時", "開始時刻", "来訪日時", "訪問日時", "来訪時刻",
         "利用開始", "利用開始日時"),
        ("Start", "開始"), ("2026-12-01 13:00", "2026-12-01 13:00"),
    ),
    Field(
        "end", _("End"),
        ("until", "to", "end time", "終了日時", "終了時刻", "退館予定", "利用終了", "利用終了日時"),
        ("End", "終了"), ("15:00", "15:00"),
    ),
    Field(
        "host", _("Host"),
        ("visits", "host name", "contact", "ホスト", "担当者", "訪問先担当者", "面会者", "受入担当者"),
        ("Host", "訪問先"), ("Ichiro Suzuki", "鈴木 一郎"),
    ),
    Field(
        "preset", _("Preset"),
        ("template", "type", "種別", "テンプレート", "区分"),
        ("Preset", "プリセット"), ("", ""),
    ),
    Field(
        "remarks", _("Remarks"),
        ("remark", "note", "notes", "comment", "メモ", "連絡事項"),
        ("Remarks", "備考"), ("", ""),
    ),
)  # fmt: skip
BY_NAME = {field.name: field for field in FIELDS}


def key(heading: str) -> str:
    """`Guest_Name` is `guest name`."""
    return "".join(c for c in fold(heading) if unicodedata.category(c)[0] in "LNM")


_MEANINGS = {key(name): field.name for field in FIELDS for name in (field.name, *field.headings, *field.names)}


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
