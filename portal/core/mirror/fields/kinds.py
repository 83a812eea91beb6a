"""The kinds of fields: how a value is read, kept, written, compared, drawn and typed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from accessapi.limits import IDENTIFIER_BYTES_MAX
from accessapi.resources import write_moment
from portal.core.mirror.fields.field import Field, Unreadable, Words
from portal.core.mirror.fields.values import (
    NEW,
    Item,
    Keys,
    Odd,
    as_json,
    masked,
    moment,
    moment_of_cell,
    text,
    within,
    without_seed,
)
from portal.core.mirror.folding import fold, sort_key
from portal.core.mirror.models import NEVER, UNREADABLE
from portal.core.ui import inputs


@dataclass(frozen=True, eq=False)
class Text(Field):
    """A text. `key`: the column of its folded form, by which it sorts and is found."""

    of = str
    key: str = ""
    several: bool = False  # of several lines

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        value = text(item, self.name, odd)
        return (value, sort_key(value)) if self.key else (value,)

    def written(self, row: Any) -> Any:
        return super().written(row) or ""

    def typed(self, **more: Any) -> forms.Field:
        most = self.limits["maxLength"]
        if self.several:
            return inputs.lines(most=most, **self._said(**more))
        return inputs.line(most=most, missing=self.missing, **self._said(**{"strip": False, **more}))

    @property
    def _shown(self) -> dict[str, Any]:
        return {**super()._shown, "sort": self.key}


@dataclass(frozen=True, eq=False)
class Reference(Text):
    """The identifier of something whose name the column `named` keeps beside it; lists sort by its column `sort`."""

    named: str = ""
    sort: str = ""

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        (value,) = super().keep(item, keys, odd)
        if len(value.encode()) <= IDENTIFIER_BYTES_MAX:
            return (value,)
        odd[self.name] = value
        return ("",)

    def drawn(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return (named or {}).get(value) or super().drawn(value)

    def typed(self, **more: Any) -> forms.Field:
        return forms.ChoiceField(error_messages={"required": self.missing}, **self._said(**more))

    @property
    def _shown(self) -> dict[str, Any]:
        return {"value": self.named, "sort": self.sort}


@dataclass(frozen=True, eq=False)
class Sealed(Text):
    """A text that rests encrypted. `fingerprint`: the column by which it is compared, hashed for `purpose`."""

    fingerprint: str = ""
    purpose: str = ""

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        value = text(item, self.name, {}) or None  # what should be a secret is not kept in clear
        return (value, keys.fingerprint(self.purpose, value) if value else None) if self.fingerprint else (value,)


@dataclass(frozen=True, eq=False)
class Card(Text):
    """The number of an IC card: it rests encrypted, and is found by its exact number, without case and width."""

    fingerprint: str = ""
    flag: str = ""

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        strange: Odd = {}
        card = text(item, self.name, strange) or (as_json(item[self.name]) if strange else None)
        return card, self.print(card, keys) if card else None, card is not None

    def print(self, card: str, keys: Keys) -> bytes:
        """Return by what a card's number is found."""
        return keys.fingerprint("card", fold(card))

    def drawn(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return masked(str(value)) if value else ""


@dataclass(frozen=True, eq=False)
class QrCode(Field):
    """A QR code in one of its variants: it rests encrypted, and of a one-time code never the seed."""

    of = dict
    fingerprint: str = ""
    flag: str = ""

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        code = without_seed(item.get(self.name)) or None
        if code is None:
            return None, None, False
        # Equal while the code itself is the same: the list tells less about a QR code than a single read.
        told = [code.get("data"), code.get("email")] if isinstance(code, dict) else code
        return code, keys.fingerprint("qr", as_json(told)), True

    def same(self, wanted: Any, told: Any) -> bool:
        """Whether somebody has this very code: an address that has one is not sent another."""
        if not wanted or not isinstance(told, dict):
            return not wanted and not told
        return within(wanted, told)

    def drawn(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        if isinstance(value, dict) and value.get("email"):
            return str(value["email"])
        data = value.get("data") if isinstance(value, dict) else value
        return masked(str(data or "")) if value else ""

    def audited(self, value: Any, mask: str = NEW) -> dict[str, Any]:
        if mask != NEW:  # of what was there before the trail need not know more
            return super().audited(value, mask)
        code = value or {}
        once = {f"{self.trail}_{name}": each for name, each in (code.get("one_time_qr") or {}).items()}
        once.pop(f"{self.trail}_enabled", None)
        return {self.trail: code.get("email") or (NEW if code else ""), **once}

    def parsed(self, texts: Mapping[str, str]) -> Any:
        data, email = texts.get("qr_data"), texts.get("qr_email", "").strip()
        if data and email:
            raise Unreadable("qr_email", "two_qr_codes")
        if email and ("@" not in email[1:-1] or any(map(str.isspace, email))):
            raise Unreadable("qr_email", "email")
        return {"data": data} if data else {"email": email}

    def cell_of(self, value: Any) -> str:
        return "qr_email" if "email" in (value or {}) else "qr_data"


@dataclass(frozen=True, eq=False)
class Moment(Field):
    """A moment. `ends`: a day alone means until its last second. `key`: the column in which ends sort and compare
    without nulls. `never`: what none means.
    """

    of = datetime
    ends: bool = False
    key: str = ""
    never: Words = ""

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        at = moment(item, self.name, odd)
        if not self.key:
            return (at,)
        return at, (UNREADABLE if self.name in odd else NEVER) if at is None else int(at.timestamp())

    def written(self, row: Any) -> Any:
        at = super().written(row)
        return at and write_moment(at)

    def same(self, wanted: Any, told: Any) -> bool:
        return super().same(wanted, write_moment(told) if isinstance(told, datetime) else told)

    def drawn(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return str(value)[:16].replace("T", " ") if value else str(self.never)

    def typed(self, **more: Any) -> forms.Field:
        return inputs.moment(**self._said(**more))

    def meant(self, typed: Any) -> Any:
        return typed and write_moment(typed)

    def parsed(self, texts: Mapping[str, str]) -> Any:
        at = moment_of_cell(texts[self.name], self.ends)
        if at is None:
            raise Unreadable(self.name, "moment")
        return at

    @property
    def _shown(self) -> dict[str, Any]:
        return {"value": self.name, "kind": "time", "sort": self.key}


@dataclass(frozen=True, eq=False)
class Flag(Field):
    """Yes, no, or not told."""

    of = bool

    def drawn(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        return {"true": _("yes"), "false": _("no")}.get(str(value).lower()) or super().drawn(value)

    def typed(self, **more: Any) -> forms.Field:
        return forms.BooleanField(required=False, **self._said(**more))


@dataclass(frozen=True, eq=False)
class Presence(Flag):
    """Something of which only is kept, in `flag`, that it is there."""

    flag: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.flag,)

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        return (bool(item.get(self.name)),)


@dataclass(frozen=True, eq=False)
class Number(Field):
    """A whole number; `invalid` is what to say of anything else."""

    of = int
    invalid: Words = ""

    def same(self, wanted: Any, told: Any) -> bool:
        return bool((wanted or 0) == (told or 0))

    def meant(self, typed: Any) -> Any:
        return typed or 0

    def typed(self, **more: Any) -> forms.Field:
        return forms.IntegerField(
            min_value=self.limits.get("minimum"),
            max_value=self.limits.get("maximum"),
            required=False,
            error_messages={"invalid": self.invalid},
            **self._said(**more),
        )


@dataclass(frozen=True, eq=False)
class Rights(Field):
    """What somebody may enter or take. Values mean the same when `normal` makes them equal."""

    normal: Callable[[Any], Any] = field(kw_only=True)

    def same(self, wanted: Any, told: Any) -> bool:
        return bool(self.normal(wanted) == self.normal(told))


@dataclass(frozen=True, eq=False)
class Privileges(Field):
    """What goes beyond rights: an object of `flags`, of which an absent one is as `unsaid`."""

    flags: tuple[Flag, ...] = ()

    def same(self, wanted: Any, told: Any) -> bool:
        return bool({**self.unsaid, **(wanted or {})} == {**self.unsaid, **(told or {})})

    def audited(self, value: Any, mask: str = NEW) -> dict[str, Any]:
        return dict(value or {})
