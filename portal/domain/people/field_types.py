"""The types of fields: how their values are read, stored, written, compared, shown and entered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.limits import IDENTIFIER_BYTES_MAX, JST
from accessapi.resources import compose, write_moment
from portal.base.files.date_parsing import Order
from portal.base.ui import inputs
from portal.domain.people.fields import (
    NEW_MASK,
    Field,
    Item,
    LabelText,
    TenantKeys,
    Unexpected,
    UnreadableCells,
    Unrestorable,
    as_json,
    is_contained,
    item_moment,
    item_text,
    mask_secret,
    moment_of_cell,
    without_seed,
)
from portal.domain.people.models import NEVER, UNREADABLE
from portal.domain.people.text_folding import fold, sort_key


@dataclass(frozen=True, eq=False)
class Text(Field):
    """A text. `key`: the column of its folded form, used for sorting and searching."""

    column_type = str
    key: str = ""
    is_multiline: bool = False

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        value = item_text(item, self.name, unexpected)
        return (value, sort_key(value)) if self.key else (value,)

    def written_value(self, row: Any) -> Any:
        return super().written_value(row) or ""

    def is_same(self, new: Any, current: Any) -> bool:
        return super().is_same(compose(new), compose(current))

    def form_field(self, **more: Any) -> forms.Field:
        most = self.limits["maxLength"]
        if self.is_multiline:
            return inputs.multiline_field(max_length=most, **self._input_options(**more))
        return inputs.line_field(
            max_length=most, required_message=self.required_message, **self._input_options(**{"strip": False, **more})
        )

    @property
    def _column_options(self) -> dict[str, Any]:
        return {**super()._column_options, "sort": self.key}


@dataclass(frozen=True, eq=False)
class Reference(Text):
    """An identifier of another object. `name_column` holds that object's name; lists sort by `sort_column`."""

    name_column: str = ""
    sort_column: str = ""

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        (value,) = super().column_values(item, keys, unexpected)
        if len(value.encode()) <= IDENTIFIER_BYTES_MAX:
            return (value,)
        unexpected[self.name] = value
        return ("",)

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return (named or {}).get(value) or super().format_value(value)

    def form_field(self, **more: Any) -> forms.Field:
        return forms.ChoiceField(error_messages={"required": self.required_message}, **self._input_options(**more))

    @property
    def _column_options(self) -> dict[str, Any]:
        return {"value": self.name_column, "sort": self.sort_column}


@dataclass(frozen=True, eq=False)
class SecretText(Text):
    """A text that is stored encrypted. `fingerprint`: the column with its hash for `purpose`, used for comparison."""

    fingerprint: str = ""
    purpose: str = ""

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        # `unexpected` is stored in clear text, so the secret is not put there.
        value = item_text(item, self.name, {}) or None
        return (value, keys.fingerprint(self.purpose, value) if value else None) if self.fingerprint else (value,)


@dataclass(frozen=True, eq=False)
class CardNumber(Text):
    """The number of an IC card. It is stored encrypted and found by the whole number, regardless of case and width."""

    fingerprint: str = ""
    flag: str = ""

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        strange: Unexpected = {}
        card = item_text(item, self.name, strange) or (as_json(item[self.name]) if strange else None)
        return card, self.fingerprint_of(card, keys) if card else None, card is not None

    def fingerprint_of(self, card: str, keys: TenantKeys) -> bytes:
        """Return the hash by which a card's number is found."""
        return keys.fingerprint("card", fold(card))

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return mask_secret(str(value)) if value else ""


@dataclass(frozen=True, eq=False)
class QrCodeField(Field):
    """A QR code in one of its variants. It is stored encrypted, without the seed of a one-time code."""

    column_type = dict
    fingerprint: str = ""
    flag: str = ""

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        code = without_seed(item.get(self.name)) or None
        if code is None:
            return None, None, False
        # Only these two values are hashed, since lists contain fewer details of a QR code than single reads.
        hashed = [code.get("data"), code.get("email")] if isinstance(code, dict) else code
        return code, keys.fingerprint("qr", as_json(hashed)), True

    def is_same(self, new: Any, current: Any) -> bool:
        """Return whether the member has this code already, so that the service does not e-mail another one."""
        if not new or not isinstance(current, dict):
            return not new and not current
        return is_contained(new, current)

    def value_to_restore(self, former: Any) -> Any:
        if not former:
            return super().value_to_restore(former)
        # The seed of a one-time code is not stored, and sending an address would e-mail another code.
        if not former.get("data") or former.get("one_time_qr"):
            raise Unrestorable(self.name)
        return {"data": former["data"]}

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        if isinstance(value, dict) and value.get("email"):
            return str(value["email"])
        data = value.get("data") if isinstance(value, dict) else value
        return mask_secret(str(data or "")) if value else ""

    def audit_values(self, value: Any, mask: str = NEW_MASK) -> dict[str, Any]:
        if mask != NEW_MASK:  # the audit log needs no details of the old value
            return super().audit_values(value, mask)
        code = value or {}
        once = {f"{self.audit_name}_{name}": each for name, each in (code.get("one_time_qr") or {}).items()}
        once.pop(f"{self.audit_name}_enabled", None)
        return {self.audit_name: code.get("email") or (NEW_MASK if code else ""), **once}

    def parse_cells(self, texts: Mapping[str, str], date_order: Order | None = None) -> Any:
        data, email = texts.get("qr_data"), texts.get("qr_email", "")
        if data and email:
            raise UnreadableCells("qr_email", "two_qr_codes")
        if email and not inputs.is_address(email):
            raise UnreadableCells("qr_email", "email")
        return {"data": data} if data else {"email": email}

    def error_cell_of(self, value: Any) -> str:
        return "qr_email" if "email" in (value or {}) else "qr_data"


@dataclass(frozen=True, eq=False)
class Moment(Field):
    """A date and time.

    `is_end`: a date alone means its last second. `key`: the column for sorting and comparing, which has no nulls.
    `none_text`: the text for no value.
    """

    column_type = datetime
    is_end: bool = False
    key: str = ""
    none_text: LabelText = ""

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        at = item_moment(item, self.name, unexpected)
        if not self.key:
            return (at,)
        return at, (UNREADABLE if self.name in unexpected else NEVER) if at is None else int(at.timestamp())

    def written_value(self, row: Any) -> Any:
        at = super().written_value(row)
        return at and write_moment(at)

    def is_same(self, new: Any, current: Any) -> bool:
        return super().is_same(new, write_moment(current) if isinstance(current, datetime) else current)

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return str(value)[:16].replace("T", " ") if value else str(self.none_text)

    def form_field(self, **more: Any) -> forms.Field:
        return inputs.moment_field(**self._input_options(**more))

    def value_of_input(self, typed: Any) -> Any:
        return typed and write_moment(typed)

    def parse_cells(self, texts: Mapping[str, str], date_order: Order | None = None) -> Any:
        at = moment_of_cell(texts[self.name], self.is_end, date_order, timezone.localdate(timezone=JST))
        if at is None:
            raise UnreadableCells(self.name, "moment")
        return at

    @property
    def _column_options(self) -> dict[str, Any]:
        return {"value": self.name, "kind": "time", "sort": self.key}


@dataclass(frozen=True, eq=False)
class Flag(Field):
    """Yes, no, or unknown."""

    column_type = bool

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return {"true": _("yes"), "false": _("no")}.get(str(value).lower()) or super().format_value(value)

    def form_field(self, **more: Any) -> forms.Field:
        return forms.BooleanField(required=False, **self._input_options(**more))


@dataclass(frozen=True, eq=False)
class PresenceFlag(Flag):
    """A field whose value is not stored; the column `flag` holds whether there is one."""

    flag: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.flag,)

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        return (bool(item.get(self.name)),)


@dataclass(frozen=True, eq=False)
class WholeNumberField(Field):
    """A whole number; `invalid_message` is the error for any other input.

    `too_large_message` names the maximum in a unit that people use.
    """

    column_type = int
    invalid_message: LabelText = ""
    too_large_message: LabelText = ""

    def is_same(self, new: Any, current: Any) -> bool:
        return bool((new or 0) == (current or 0))

    def value_of_input(self, typed: Any) -> Any:
        return typed or 0

    def form_field(self, **more: Any) -> forms.Field:
        return forms.IntegerField(
            min_value=self.limits.get("minimum"),
            max_value=self.limits.get("maximum"),
            required=False,
            error_messages={"invalid": self.invalid_message, "max_value": self.too_large_message},
            **self._input_options(**more),
        )


@dataclass(frozen=True, eq=False)
class RightsField(Field):
    """A member's access rights to areas or keys. Values mean the same when `normalise` makes them equal."""

    normalise: Callable[[Any], Any] = field(kw_only=True)

    def is_same(self, new: Any, current: Any) -> bool:
        return bool(self.normalise(new) == self.normalise(current))


@dataclass(frozen=True, eq=False)
class PrivilegesField(Field):
    """A member's privileges: an object of `flags`; absent ones are taken from `default`."""

    flags: tuple[Flag, ...] = ()

    def is_same(self, new: Any, current: Any) -> bool:
        return bool({**self.default, **(new or {})} == {**self.default, **(current or {})})

    def audit_values(self, value: Any, mask: str = NEW_MASK) -> dict[str, Any]:
        return dict(value or {})
