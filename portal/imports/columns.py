"""Which column holds what: the fields of a row, guessed from English and Japanese headings, remembered per tenant.

A heading is guessed only where a wrong guess does no harm: a plain "E-mail" is not, because every address in a QR
column is sent a live QR code, nor is a plain "No.", which often just counts lines.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from portal.core.files.marks import is_reason
from portal.core.mirror.folding import fold
from portal.imports.models import ColumnChoice


@dataclass(frozen=True)
class Field:
    """A column's meaning. `secret`: shown masked. `names`: headings that mean it, as people write them."""

    name: str
    label: str | Promise
    help: str | Promise
    names: tuple[str, ...]
    headings: tuple[str, str]  # in the template: English, Japanese
    example: tuple[str, str]
    secret: bool = False


def _most(text: Any, most: int) -> str | Promise:
    return format_lazy(text, n=most)


FIELDS: tuple[Field, ...] = (
    Field(
        "member_id", _("Member ID"), _("The service's own identifier. Finds the member to change."),
        ("member id", "会員ID", "メンバーID", "利用者ID"), ("Member ID", "会員ID"), ("", ""),
    ),
    Field(
        "member_name", _("Name"), _most(_("At most {n} characters. Needed for new members."), limits.MEMBER_NAME_MAX),
        ("name", "member name", "full name", "display name", "氏名", "名前", "会員名", "メンバー名", "利用者名",
         "社員名", "お名前", "姓名"),
        ("Name", "氏名"), ("Aiko Tanaka", "田中 愛子"),
    ),
    Field(
        "member_code", _("Member code"),
        _most(_("At most {n} characters. Finds the member to change when no ID is given."), limits.MEMBER_CODE_MAX),
        ("member code", "code", "employee number", "employee no", "employee id", "employee code", "staff number",
         "staff no", "staff id", "会員コード", "会員番号", "社員番号", "社員コード", "職員番号", "学籍番号",
         "従業員番号", "メンバーコード", "コード", "社員no"),
        ("Member code", "会員コード"), ("E00042", "E00042"),
    ),
    Field(
        "group", _("Group"), _("Name or ID of a member group that exists. Needed for new members."),
        ("group", "group name", "member group", "membergroup", "membergroup id", "membergroup name", "group id",
         "department", "division", "team", "グループ", "グループ名", "会員グループ", "会員グループ名", "会員グループID",
         "所属", "所属グループ", "部署", "部署名", "部門", "グループID"),
        ("Group", "グループ"), ("", ""),
    ),
    Field(
        "card_data", _("Card"), _most(_("IC card data, at most {n} characters."), limits.CARD_DATA_MAX),
        ("card", "card data", "card number", "card no", "card id", "ic card", "idm", "カード", "カード番号",
         "カードデータ", "カードID", "ICカード", "ICカード番号", "カードno"),
        ("Card", "カード番号"), ("0123456789ABCDEF", "0123456789ABCDEF"), secret=True,
    ),
    Field(
        "qr_data", _("QR code: data"), _("The text of a QR code that you have prepared."),
        ("qr", "qr code", "qr data", "qr code data", "QRコード", "QRデータ", "QRコードデータ", "QR情報"),
        ("QR data", "QRデータ"), ("", ""), secret=True,
    ),
    Field(
        "qr_email", _("QR code: e-mail"), _("The service issues a QR code and sends it to this address."),
        ("qr email", "qr e-mail", "qr code email", "QR送付先", "QRメール", "QRメールアドレス",
         "QR送信先メールアドレス"),
        ("QR e-mail", "QR送付先メールアドレス"), ("", ""),
    ),
    Field(
        "use_date_start", _("Use from"), _("2026-12-01, 2026/12/1 or 2026-12-01 09:00. A day alone means 00:00."),
        ("use from", "use start", "use date start", "start", "start date", "valid from",
         "利用開始日", "利用開始日時", "利用開始", "開始日", "開始日時", "有効開始日", "使用開始日", "有効期間開始"),
        ("Use from", "利用開始日"), ("2026-12-01", "2026-12-01"),
    ),
    Field(
        "use_date_end", _("Use until"), _("As above. A day alone means until 23:59:59."),
        ("use until", "use end", "use date end", "end", "end date", "valid until", "valid to", "expiry",
         "利用終了日", "利用終了日時", "利用終了", "終了日", "終了日時", "有効終了日", "使用終了日", "有効期限",
         "利用期限", "有効期間終了"),
        ("Use until", "利用終了日"), ("2027-03-31 18:00", "2027-03-31 18:00"),
    ),
)  # fmt: skip
BY_NAME = {field.name: field for field in FIELDS}
# Where a fault of a model's field is shown.
OF_MODEL = {"membergroup_id": "group", "qrcode": "qr_data"}


def key(heading: str) -> str:
    """Headings are compared without case, width, spaces and punctuation: "Member_Name" is "member name"."""
    folded = fold(heading)
    return "".join(c for c in folded if unicodedata.category(c)[0] in "LNM")[:200]


_MEANINGS = {key(name): field.name for field in FIELDS for name in (field.name, *field.headings, *field.names)}


def guess(headings: Sequence[str]) -> dict[str, int]:
    """Field -> column: what the tenant chose before for a heading, else what the heading says. Each field once."""
    keys = [key(heading) for heading in headings]
    chosen = dict(ColumnChoice.objects.filter(heading__in=keys).values_list("heading", "field"))
    found: dict[str, int] = {}
    for remembered in (True, False):
        for place, name in enumerate(keys):
            if not name or is_reason(headings[place]) or (name in chosen) != remembered:
                continue
            field = chosen[name] if remembered else _MEANINGS.get(name, "")
            if field in BY_NAME:
                found.setdefault(field, place)
    return found


def remember(headings: Sequence[str], columns: Mapping[str, int]) -> None:
    """Keep what was chosen for each heading, also that it was left out."""
    fields = {place: field for field, place in columns.items()}
    choices = {
        key(heading): fields.get(place, "")
        for place, heading in reversed(list(enumerate(headings)))
        if key(heading) and not is_reason(heading)
    }
    ColumnChoice.objects.bulk_create(
        [ColumnChoice(heading=heading, field=field) for heading, field in choices.items()],
        update_conflicts=True,
        unique_fields=["tenant", "heading"],
        update_fields=["field"],
    )
