"""Exports of other products, recognised by their headings.

Only headings that mean something else than elsewhere are listed here. All others are recognised one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from portal.domain.people.fields import heading_key
from portal.domain.people.member_fields import CARD, CODE, END, MEMBER_ID, NAME, START

_STATUS = "status"


@dataclass(frozen=True)
class Product:
    """The export of a product. `signs`: sets of headings of which a file has all of one.

    `columns`: the field of each heading; "" leaves the column out. All headings are keys (`heading_key`).
    `date_order`: how it writes days.
    """

    name: str
    signs: tuple[frozenset[str], ...]
    columns: Mapping[str, str]
    date_order: str = ""


def _product(name: str, *signs: str, columns: Mapping[str, str], date_order: str = "") -> Product:
    return Product(
        name,
        tuple(frozenset(map(heading_key, sign.split(","))) for sign in signs),
        {heading_key(heading): field for heading, field in columns.items()},
        date_order,
    )


# A number of a card alone is kept: the facility code is a part of the card's format, not of its number.
PRODUCTS = (
    _product(
        "Verkada", "firstName,lastName,cardFormat,cardNumber", "firstName,lastName,accessGroups",
        "First Name,Last Name,Access Groups,Card Number",
        columns={
            "employeeId": CODE.name, "externalId": CODE.name, "cardNumber": CARD.name, "cardNumberHex": "",
            "accessGroups": "group", "groups": "group", "department": "", "startDate": START.name,
            "startDateTime": START.name, "endDate": END.name, "endDateTime": END.name, "userId": "",
            "accessStatus": _STATUS,
        },
    ),
    _product(
        "Openpath / Avigilon Alta", "First Name,Last Name,External ID,Groups",
        "First Name,Last Name,External ID,Card Number", "First Name,Last Name,Namespace",
        columns={
            "External ID": CODE.name, "Groups": "group", "Start Date": START.name, "End Date": END.name,
            "Card Number": CARD.name, "User ID": "", "ID": "", "Person ID": "", "Department": "",
        },
    ),
    _product(
        "HID", "FirstName,LastName,EmployeeType", "FirstName,LastName,EmployerType", "First Name,Last Name,Pass Status",
        "First Name,Last Name,Mobile IDs", "First Name,Last Name,Credential Number",
        columns={
            "User ID": CODE.name, "EmployeeID": CODE.name, "Employer": "group", "StartDate": START.name,
            "EndDate": END.name, "Credential Number": CARD.name, "User Status": _STATUS, "Pass Status": "",
            "EmployerType": "", "EmployeeType": "",
        },
        date_order="mdy",
    ),
    _product(
        "Kisi", "name,email,access_enabled", "name,email,role_id", "name,email,credential_token",
        "name,email,group_ids", "name,email,last signed in",
        columns={
            "name": NAME.name, "id": "", "credential_token": CARD.name, "card": CARD.name, "token": CARD.name,
            "groups": "group", "group_ids": "group", "access_enabled": _STATUS, "valid_from": START.name,
            "valid_until": END.name, "role_id": "", "role": "",
        },
    ),
    _product(
        "SPLATS", "member_id,member_name", "member_name,membergroup_id", "member_code,member_name",
        "会員ID,会員名,会員グループ名",
        columns={
            "member_id": MEMBER_ID.name, "member_name": NAME.name, "member_code": CODE.name,
            "membergroup_name": "group", "会員グループ名": "group", "card_data": CARD.name,
            "use_date_start": START.name, "use_date_end": END.name,
        },
    ),
)  # fmt: skip


def find_product(headings: Sequence[str]) -> Product | None:
    """Return the product that exports such headings, or None."""
    keys = {heading_key(heading) for heading in headings}
    return next((each for each in PRODUCTS if any(sign <= keys for sign in each.signs)), None)
