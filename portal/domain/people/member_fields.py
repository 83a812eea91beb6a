"""The descriptions of the fields of members and groups.

Specification: resource "Member", operations 3 to 6, 13 and 14.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.permissions import no_access, normalise_devices, normalise_keys
from accessapi.resources.groups import GroupUpdate
from accessapi.resources.members import MemberUpdate, Privilege
from portal.domain.people.field_types import (
    CardNumber,
    Flag,
    Moment,
    PresenceFlag,
    PrivilegesField,
    QrCodeField,
    Reference,
    RightsField,
    Text,
)
from portal.domain.people.fields import Field, FieldSet, SheetColumn
from portal.domain.people.models import Group, Member

MEMBER_ID = Field(
    "member_id", _("Member ID"), is_code=True, is_hidden=True,
    sheet_columns=(SheetColumn(
        ("Member ID", "会員ID"), "メンバーID, 利用者ID", kind="code",
        help=_("The service's ID. Identifies the member to change."),
    ),),
)  # fmt: skip
NAME = Text(
    "member_name", _("Name"), request_model=MemberUpdate, key="name_key", required_message=_("Enter a name."),
    section="who", column_name="name",
    sheet_columns=(SheetColumn(
        ("Name", "氏名"),
        "member name, full name, display name, 名前, 会員名, メンバー名, 利用者名, 社員名, お名前, 姓名",
        ("Aiko Tanaka", "田中 愛子"), help=_("Required for new members."),
    ),),
)  # fmt: skip
CODE = Text(
    "member_code", _("Member code"), request_model=MemberUpdate, key="code_key", is_code=True, section="who",
    column_name="code",
    sheet_columns=(SheetColumn(
        ("Member code", "会員コード"),
        "code, employee number, employee no, employee id, employee code, staff number, staff no, staff id, "
        "社員番号, 会員番号, 社員コード, 職員番号, 学籍番号, 従業員番号, メンバーコード, コード, 社員no",
        ("E00042", "E00042"), kind="code",
        help=_("Identifies the member if there is no ID."),
    ),),
)  # fmt: skip
GROUP = Reference(
    "membergroup_id", _("Group"), request_model=MemberUpdate, name_column="membergroup_name", sort_column="group_key",
    required_message=_("Choose a group."), section="who", column_name="group",
    sheet_columns=(SheetColumn(
        ("Group", "グループ"),
        "group name, member group, membergroup, membergroup id, membergroup name, group id, department, division, "
        "team, グループ名, 会員グループ, 会員グループ名, 会員グループID, 所属, 所属グループ, 部署, 部署名, 部門, "
        "グループID",
        name="group", help=_("Name or ID of an existing group. Required for new members."),
    ),),
)  # fmt: skip
CARD = CardNumber(
    "card_data", _("Card"), request_model=MemberUpdate, fingerprint="card_fingerprint", flag="has_card",
    audit_name="card",
    help=_("IC card data; leading zeros are kept."),
    sheet_columns=(SheetColumn(
        ("Card", "カード番号"),
        "card data, card number, card no, card id, ic card, idm, カード, カードデータ, カードID, ICカード, "
        "ICカード番号, カードno",
        ("0123456789ABCDEF", "0123456789ABCDEF"), kind="card", help=_("IC card data."),
        is_secret=True,
    ),),
)  # fmt: skip
QR = QrCodeField(
    "qrcode", _("QR code"), request_model=MemberUpdate, fingerprint="qr_fingerprint", flag="has_qr", audit_name="qr",
    input_names=("qr",),
    part_inputs={
        "qrcode.email": ("qr_email",), "qrcode.data": ("qr_data",), "one_time_qr": ("qr",),
        "timestep": ("qr_timestep",), "skew": ("qr_skew",),
    },
    sheet_columns=(SheetColumn(
        ("QR data", "QRデータ"), "qr, qr code, qr code data, QRコード, QRコードデータ, QR情報", name="qr_data",
        kind="code", label=_("QR code: data"), help=_("Text of a QR code you prepared."), is_secret=True,
    ), SheetColumn(
        ("QR e-mail", "QR送付先メールアドレス"),
        "qr code email, QR送付先, QR送付先メール, QRメール, QRメールアドレス, QR送信先メールアドレス", name="qr_email",
        kind="email", label=_("QR code: e-mail"),
        help=_("The service issues a QR code and e-mails it to this address."),
    )),
)  # fmt: skip
FACE = PresenceFlag("face_data", _("Face"), flag="has_face", audit_name="face")
START = Moment(
    "use_date_start", _("Start of use"), request_model=MemberUpdate, help=_("Leave empty for now."), section="period",
    column_name="start", is_hidden=True,
    sheet_columns=(SheetColumn(
        ("Use from", "利用開始日"),
        "use start, start, start date, valid from, 利用開始日時, 利用開始, 開始日, 開始日時, 有効開始日, "
        "使用開始日, 有効期間開始, start of use",
        ("2026-12-01", "2026-12-01"), kind="moment",
        help=_("2026-12-01, 2026/12/1 or 2026-12-01 09:00. A date alone means 00:00."),
    ),),
)  # fmt: skip
END = Moment(
    "use_date_end", _("End of use"), request_model=MemberUpdate, key="use_end_key", is_end=True, none_text=_("no end"),
    help=_("Leave empty for no end date. Japan time (+09:00)."), section="period", column_name="end",
    sheet_columns=(SheetColumn(
        ("Use until", "利用終了日"),
        "use end, end, end date, valid until, valid to, expiry, 利用終了日時, 利用終了, 終了日, 終了日時, "
        "有効終了日, 使用終了日, 有効期限, 利用期限, 有効期間終了, end of use",
        ("2027-03-31 18:00", "2027-03-31 18:00"), kind="moment",
        help=_("As above. A date alone means 23:59:59."),
    ),),
)  # fmt: skip
PRIVILEGES = (
    Flag("keys_without_2fa", _("Can take keys without two-factor authentication")),
    Flag("restricted_keys_enabled", _("Can take restricted keys")),
)
PRIVILEGE = PrivilegesField(
    "privilege", _("Privileges"), request_model=MemberUpdate, json_column="rights", default=Privilege().model_dump(),
    flags=PRIVILEGES,
)  # fmt: skip
DOORS_AND_KEYS = (
    RightsField(
        "devices_pass",
        _("Areas"),
        request_model=MemberUpdate,
        json_column="rights",
        default=no_access(),
        normalise=normalise_devices,
    ),
    RightsField(
        "keys_pass",
        _("Keys"),
        request_model=MemberUpdate,
        json_column="rights",
        default=no_access(),
        normalise=normalise_keys,
    ),
)

MEMBER = FieldSet(
    Member,
    MEMBER_ID,
    NAME,
    CODE,
    GROUP,
    Text("membergroup_name", _("Group"), key="group_key"),
    CARD,
    QR,
    FACE,
    START,
    END,
    Text("account_type", _("Account type"), is_listed=False),
    PresenceFlag("profile_image_url", _("Picture"), flag="has_profile_image", is_listed=False, audit_name="picture"),
    *DOORS_AND_KEYS,
    PRIVILEGE,
)
# Fields that only single reads contain: a list cannot show whether they have changed.
RIGHTS_NAMES = MEMBER.names_in_column("rights")

# Only this field of a group can be changed (specification: resource "Member group", operations 16 to 18).
GROUP_NAME = Text(
    "membergroup_name",
    _("Group name"),
    request_model=GroupUpdate,
    required_message=pgettext_lazy("group", "Enter a name."),
)
MEMBERGROUP = FieldSet(Group, GROUP_NAME)
