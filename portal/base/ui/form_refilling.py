"""Refill any form of a page with values that were posted but could not be sent.

The page's HTML is parsed, and only what differs is replaced: values, selected options, and a notice at the top. Texts
that have no field on the page any more are listed in the notice, so that nothing is lost.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from django.utils.html import escape

from tenants.interrupted_requests import TECHNICAL_FIELDS, InterruptedRequest

_ANCHOR = "unsent-form"
_BUTTONS = ("submit", "button", "image", "reset", "file", "password")
_CHOSEN = {"checkbox": "checked", "radio": "checked", "option": "selected"}


@dataclass
class HtmlControl:
    """An input, a text area or an option, with the positions of its start tag and its text in the page."""

    kind: str
    name: str
    value: str
    attributes: dict[str, str | None]
    tag: str
    start: int
    end: int
    text_end: int = 0


@dataclass
class HtmlForm:
    """A form, the URLs that it posts to, and the closed `<details>` elements around it."""

    attributes: dict[str, str | None]
    start: int
    end: int
    closed_details: list[tuple[int, int]] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)
    controls: list[HtmlControl] = field(default_factory=list)
    buttons: set[str] = field(default_factory=set)


class _FormParser(HTMLParser):
    """A parser of the forms of a page, with their controls that are elsewhere in the page."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__()
        self.forms: list[HtmlForm] = []
        self.main = 0
        self._path = path
        self._lines = [0]
        self._lines += [at + 1 for at, each in enumerate(text) if each == "\n"]
        self._closed: list[tuple[int, int]] = []
        self._open: HtmlForm | None = None
        self._samples = 0  # `<template>` elements are for scripts: nothing in them is sent
        self._select = ""
        self._owner: str | None = None
        self._last: HtmlControl | None = None
        self._elsewhere: list[tuple[str, HtmlControl]] = []
        self._posted: list[tuple[str, str, str]] = []
        self.feed(text)
        named = {each.attributes["id"]: each for each in self.forms if each.attributes.get("id")}
        for form_id, control in self._elsewhere:
            if form_id in named:
                named[form_id].controls.append(control)
        for form_id, address, name in self._posted:
            if form_id in named:
                named[form_id].addresses |= {address} if address else set()
                named[form_id].buttons.add(name)

    def _tag_position(self) -> tuple[int, int]:
        line, column = self.getpos()
        start = self._lines[line - 1] + column
        return start, start + len(self.get_starttag_text() or "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given, (start, end) = dict(attrs), self._tag_position()
        self._samples += tag == "template"
        if self._samples:
            return
        if tag == "main":
            self.main = end
        elif tag == "details":
            self._closed.append((start, end))
        elif tag == "form":
            self._open = HtmlForm(given, start, end, list(self._closed))
            self._open.addresses.add(self._resolved(given.get("action")))
            self.forms.append(self._open)
        elif tag == "select":
            self._select = given.get("name") or ""
            self._owner = given.get("form")
        elif tag in ("input", "textarea", "option", "button"):
            self._control(tag, given, start, end)

    def _control(self, tag: str, given: dict[str, str | None], start: int, end: int) -> None:
        kind = (given.get("type") or "text").lower() if tag == "input" else tag
        name = self._select if tag == "option" else given.get("name") or ""
        form_id = given.get("form") or (self._owner if tag == "option" else None)
        if tag == "button" or kind in ("submit", "image"):
            address = self._resolved(given["formaction"]) if given.get("formaction") else ""
            if form_id:
                self._posted.append((form_id, address, name))
            elif self._open is not None:
                self._open.addresses |= {address} if address else set()
                self._open.buttons.add(name)
            return
        value = given.get("value")
        default = "on" if kind in ("checkbox", "radio") else ""
        control = HtmlControl(kind, name, default if value is None else value, given, tag, start, end)
        if not name or "disabled" in given:
            return
        self._last = control
        if form_id:
            self._elsewhere.append((form_id, control))
        elif self._open is not None:
            self._open.controls.append(control)

    def handle_endtag(self, tag: str) -> None:
        line, column = self.getpos()
        if self._samples:
            self._samples -= tag == "template"
        elif tag == "textarea" and self._last is not None and self._last.tag == "textarea":
            self._last.text_end = self._lines[line - 1] + column
        elif tag == "form":
            self._open = None
        elif tag == "select":
            self._select, self._owner = "", None
        elif tag == "details" and self._closed:
            self._closed.pop()

    def _resolved(self, address: str | None) -> str:
        return urlsplit(urljoin(self._path, address or self._path)).path


@dataclass
class RefilledPage:
    """A page with a form filled in: its text, the position for a notice, and the form's anchor.

    `unplaced_texts` have no field any more. `is_choice_lost`: a selected option is no longer offered. `has_entries`: a
    person entered something.
    """

    text: str
    notice_position: int
    anchor: str
    unplaced_texts: list[str]
    is_choice_lost: bool = False
    has_entries: bool = False


def refill_form(text: str, path: str, unsent: InterruptedRequest) -> RefilledPage:
    """Return the page with these values in the form that posts to their URL, if it has one."""
    reader = _FormParser(text, path)
    form = _best_form([each for each in reader.forms if unsent.address in each.addresses], unsent)
    unsent_values: dict[str, list[str]] = defaultdict(list)
    for name, value in unsent.values:
        unsent_values[name].append(value)
    if form is None:
        return RefilledPage(text, reader.main, "", _typed_texts(unsent_values))
    for name in form.buttons:
        unsent_values.pop(name, None)
    anchor = form.attributes.get("id") or _ANCHOR
    changes = [(start, end, _with_attribute(text[start:end], "open", "")) for start, end in form.closed_details]
    changes += [(form.start, form.end, _with_attribute(text[form.start : form.end], "id", anchor))]
    changes += [change for control in form.controls for change in _changes_of(text, control, unsent_values)]
    is_choice_lost = any(unsent_values.get(each.name) for each in form.controls if each.kind in _CHOSEN)
    at = reader.main + _shift(changes, reader.main)
    fields = {each.name for each in form.controls if each.kind not in ("hidden", *_BUTTONS)}
    has_entries = any(value and name in fields for name, value in unsent.values)
    return RefilledPage(
        _apply_changes(text, changes), at, anchor, _typed_texts(unsent_values), is_choice_lost, has_entries
    )


def _best_form(forms: list[HtmlForm], unsent: InterruptedRequest) -> HtmlForm | None:
    """Return the form that the values are from, if several post to one URL.

    Each row of a list may have its own form; they differ in their hidden values.
    """
    values = set(unsent.values)
    names = {name for name, _ in values}

    def similarity(form: HtmlForm) -> tuple[int, int]:
        hidden = sum((each.name, each.value) in values for each in form.controls if each.kind == "hidden")
        return hidden, sum(each.name in names for each in form.controls)

    return max(forms, key=similarity, default=None)


def _changes_of(text: str, control: HtmlControl, unsent_values: dict[str, list[str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the page's changes for one control, and remove its value from `unsent_values`."""
    if control.kind in _BUTTONS or control.name in TECHNICAL_FIELDS:
        return
    values, raw = unsent_values.get(control.name, []), text[control.start : control.end]
    if mark := _CHOSEN.get(control.kind):
        value = control.value
        if control.kind == "option" and control.attributes.get("value") is None:
            return
        if is_chosen := value in values:
            values.remove(value)
        yield control.start, control.end, _with_attribute(raw, mark, "") if is_chosen else _without_attribute(raw, mark)
    elif values:
        value = values.pop(0)
        if control.tag == "textarea":
            yield control.end, control.text_end, "\n" + str(escape(value))
        else:
            yield control.start, control.end, _with_attribute(raw, "value", value)


def _with_attribute(tag: str, name: str, value: str) -> str:
    """Return a start tag with this attribute set."""
    bare = _without_attribute(tag, name)
    end = len(bare) - (2 if bare.endswith("/>") else 1)
    return f'{bare[:end].rstrip()} {name}="{escape(value)}"{bare[end:]}'


def _without_attribute(tag: str, name: str) -> str:
    reader = _TagParser(tag)
    if name not in reader.given:
        return tag
    inner = "".join(
        f" {key}" if value is None else f' {key}="{escape(value)}"'
        for key, value in reader.given.items()
        if key != name
    )
    return f"<{reader.tag}{inner}>"


class _TagParser(HTMLParser):
    """A parser of one start tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tag, self.given = "", dict[str, str | None]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag, self.given = tag, dict(attrs)


def _apply_changes(text: str, changes: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, new in sorted(changes):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _shift(changes: list[tuple[int, int, str]], before: int) -> int:
    """Return by how many characters the position `before` moves."""
    ordered = sorted(changes)
    return sum(len(new) - (end - start) for start, end, new in ordered[: bisect_left(ordered, (before,))])


def _typed_texts(left_over: dict[str, list[str]]) -> list[str]:
    """Return the texts that a person typed among values without a field: not choices and signed values."""
    values = [value.strip() for listed in left_over.values() for value in listed]
    return [value for value in values if " " in value or "\n" in value or "@" in value or not value.isascii()]
