"""Read a number of a spreadsheet as its cell shows it, as far as the format belongs to the value.

000042 and E00042 are codes: zeros, and letters in front, are read. A unit behind the number, a currency and separators
of thousands are not; where they change what a person reads, the cell has a note.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any

from openpyxl.styles.numbers import is_date_format, is_timedelta_format
from openpyxl.utils.datetime import from_excel

from portal.base.files.lines import FORMAT_DIFFERS, mark_fault

# Returns the text of a stored number, in the calendar of its workbook, and the code of a note or "".
CellFormat = Callable[[str, datetime], tuple[str, str]]
# Spreadsheets store fifteen digits of a number: a longer one is no longer exact.
_EXACT = 10**15
# Formats of East Asian versions of Excel, which they do not write into the file.
ASIAN_DATE_FORMATS = {str(number): "yyyy-mm-dd" for number in (*range(27, 37), *range(50, 59))}
_ERA = re.compile(r"(?<![\w\\])g{1,3}(?!en)")
# 1.23E+11 hides digits, but all of them are stored.
_SCIENTIFIC = re.compile(r"[0#?][Ee][+-]")
_QUOTED = re.compile(r'"[^"]*"|\\.')
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<digit>[0#?])|(?P<text>@)|(?P<dot>\.)|(?P<comma>,)|(?P<changed>%|/)|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
}
_CURRENCIES = frozenset("¥￥$€£₩")


def compile_format(code: str) -> CellFormat:
    """Return the function that reads numbers of a format."""
    if is_timedelta_format(code):
        return _read_duration
    if is_date_format(code) or (code != "General" and _ERA.search(_QUOTED.sub("", code))):
        return partial(_read_date, has_clock="h" in _QUOTED.sub("", code).lower())
    if _SCIENTIFIC.search(_QUOTED.sub("", code)):
        return read_number
    sections = [_Section.parse(part) for part in _split_sections(code)]
    if all(section.is_plain for section in sections):
        return read_number
    return lambda value, epoch: _read_formatted(value, epoch, sections)


def compile_text_format(code: str) -> tuple[str, str] | None:
    """Return what a format shows before and after a text, such as "E"@; None for most formats, which show nothing."""
    part = _split_sections(code)[-1]
    section = _Section.parse(part)
    if "@" not in _QUOTED.sub("", part) or not (section.before.strip() or section.after.strip()):
        return None
    return section.before, section.after


def read_number(value: str, _epoch: datetime) -> tuple[str, str]:
    """Return a number as its shortest exact text: 42, 0.5; a fault if it has more than fifteen digits."""
    try:
        number = int(value) if "." not in value and "E" not in value.upper() else float(value)
    except ValueError:
        return value, ""
    if isinstance(number, float):
        if number != number or number in (float("inf"), float("-inf")):
            return value, ""
        if not number.is_integer():
            return repr(number), ""
        number = int(number)
    return (str(number) if abs(number) < _EXACT else mark_fault("digits_lost", value)), ""


@dataclass(frozen=True)
class _Section:
    """A section of a format. `shape` is the whole part of the number: 0 # ? for its digits, and what is between."""

    shape: tuple[tuple[str, bool], ...]  # (character, whether it is a place for a digit)
    before: str
    after: str
    decimals: int
    condition: tuple[str, float] | None
    has_currency: bool
    is_changed: bool  # a percentage, a fraction, thousands, or nothing is shown
    is_general: bool
    has_comma: bool

    @classmethod
    def parse(cls, part: str) -> "_Section":
        """Return a section of a format by its code."""
        return _SectionParser(part).section

    @property
    def zeros(self) -> int:
        return sum(char == "0" for char, is_digit in self.shape if is_digit)

    @property
    def between(self) -> str:
        return "".join(char for char, is_digit in self.shape if not is_digit)

    @property
    def is_code(self) -> bool:
        """Return True if the format belongs to the value: zeros, letters in front, or signs between the digits."""
        if self.is_changed or self.has_currency or self.has_comma:
            return False
        has_letters = any(char.isalnum() or char in "#@/" for char in self.before)
        return self.zeros > 1 or has_letters or bool(self.between.strip())

    @property
    def is_plain(self) -> bool:
        return not (self.is_code or self.is_different)

    @property
    def is_different(self) -> bool:
        """Return True if a person reads more than the number, or something else."""
        if self.is_changed or self.has_currency or (self.has_comma and self.zeros > 1):
            return True
        return bool((self.before + self.after).strip(" ()-+\u00a0"))

    def show(self, number: float) -> str:
        """Return the number (not negative) as the section shows it, without spaces at the ends."""
        whole, _dot, decimals = f"{number:.{self.decimals}f}".partition(".")
        digits = list(whole if whole != "0" or self.zeros or self.is_general else "")
        shown: list[str] = []
        places = [index for index, (_char, is_digit) in enumerate(self.shape) if is_digit]
        for index in range(len(self.shape) - 1, -1, -1):
            char, is_digit = self.shape[index]
            if not is_digit:
                shown.append(char)
                continue
            shown.append(digits.pop() if digits else {"0": "0", "?": " "}.get(char, ""))
            if places and index == places[0]:
                shown.extend(reversed(digits))
                digits = []
        body = "".join(reversed(shown)) or "".join(digits)
        return (self.before + body + (f".{decimals}" if decimals else "") + self.after).strip()


class _SectionParser:
    """Takes a section of a format apart, character by character."""

    def __init__(self, part: str) -> None:
        self._before = ""
        self._shape: list[tuple[str, bool]] = []
        self._pending: list[tuple[str, bool]] = []
        self._decimals, self._is_after_dot, self._has_comma, self._ends_in_comma = 0, False, False, False
        self._condition: tuple[str, float] | None = None
        self._has_currency = self._is_changed = self._is_general = False
        for token in _TOKEN.finditer(part):
            self._take(token.lastgroup or "", token.group(token.lastgroup or 0))
        self._has_comma = self._has_comma and not self._ends_in_comma
        self.section = _Section(
            shape=tuple(self._shape), before=self._before, after=self._pending_text(),
            decimals=self._decimals, condition=self._condition, has_currency=self._has_currency,
            is_changed=self._is_changed or self._ends_in_comma or not part.strip(),
            is_general=self._is_general, has_comma=self._has_comma,
        )  # fmt: skip

    def _take(self, kind: str, text: str) -> None:
        match kind:
            case "digit":
                self._add_digit(text)
            case "bracket":
                self._add_bracket(text)
            case "general" | "text":
                self._is_general = True
                self._shape = self._shape or [("0", True)] if kind == "general" else self._shape
                self._before, self._pending = self._before + self._pending_text(), []
            case "dot":
                self._is_after_dot = True
            case "comma":
                self._has_comma = self._ends_in_comma = bool(self._shape)
            case "changed":
                self._is_changed = True
            case "fill":
                pass
            case _:
                self._has_currency = self._has_currency or text in _CURRENCIES
                self._pending.extend((char, False) for char in (" " if kind == "space" else text))

    def _pending_text(self) -> str:
        return "".join(char for char, _is_digit in self._pending)

    def _add_digit(self, text: str) -> None:
        self._ends_in_comma = False
        if self._is_after_dot:
            self._decimals += 1
        elif not self._shape:
            self._before += self._pending_text()
            self._shape.append((text, True))
        else:
            self._shape += [*self._pending, (text, True)]
        self._pending = []

    def _add_bracket(self, text: str) -> None:
        if text.startswith("$"):
            self._has_currency = self._has_currency or bool(text[1:].partition("-")[0])
        elif text.startswith("DBNum"):
            self._is_changed = True
        elif found := _CONDITION.fullmatch(text.strip()):
            self._condition = (found[1], float(found[2]))


def _split_sections(code: str) -> list[str]:
    """Return the sections of a format, which semicolons separate."""
    sections, start = [], 0
    for token in _TOKEN.finditer(code):
        if token.group("plain") == ";":
            sections.append(code[start : token.start()])
            start = token.end()
    return [*sections, code[start:]]


def _read_formatted(value: str, epoch: datetime, sections: list[_Section]) -> tuple[str, str]:
    plain, _note = read_number(value, epoch)
    try:
        number = float(plain)
    except ValueError:
        return plain, ""
    section, sign = _choose(sections, number)
    if section.is_code and (number.is_integer() or section.decimals):
        text = section.show(abs(int(plain)) if number.is_integer() else abs(number))
        return sign + text, ""
    return plain, FORMAT_DIFFERS if section.is_different or section.is_code else ""


def _choose(sections: list[_Section], number: float) -> tuple[_Section, str]:
    """Return the section for a number, and the sign that is shown in front of it."""
    minus = "-" if number < 0 else ""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARISONS[section.condition[0]](number, section.condition[1]):
                return section, minus
        return sections[-1], minus
    if number < 0 and len(sections) > 1:
        return sections[1], ""
    return sections[2 if number == 0 and len(sections) > 2 else 0], minus


def _read_duration(value: str, epoch: datetime) -> tuple[str, str]:
    try:
        seconds = round(float(value) * 86_400)
    except (ValueError, OverflowError):
        return read_number(value, epoch)
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{'-' if seconds < 0 else ''}{hour}:{minute:02}:{second:02}", ""


def _read_date(value: str, epoch: datetime, *, has_clock: bool) -> tuple[str, str]:
    """Return a date, with its time if the format shows one or it is not midnight."""
    try:
        moment: Any = from_excel(round(float(value) * 86_400) / 86_400, epoch)
    except (ValueError, OverflowError, TypeError):
        return read_number(value, epoch)
    if isinstance(moment, timedelta | time):
        return str(moment), ""
    if isinstance(moment, datetime) and (has_clock or moment.hour or moment.minute or moment.second):
        return moment.strftime("%Y-%m-%d %H:%M:%S"), ""
    return (moment.strftime("%Y-%m-%d"), "") if moment.year >= 1000 else read_number(value, epoch)
