"""Fill a form of a page with values that were posted and could not be sent: whatever form it is, however it is drawn.

The page's HTML is read once more, and only what has to differ is written anew: values, marks of what is chosen, and a
notice on top. What has no field on the page any more is listed in the notice, so that no text is lost.
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
    """An input, a text area or an option, and where its start tag and the text within stand in the page."""

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
    """A form, the addresses its buttons post to, and what lies around it closed."""

    attributes: dict[str, str | None]
    start: int
    end: int
    closed_details: list[tuple[int, int]] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)
    controls: list[HtmlControl] = field(default_factory=list)
    buttons: set[str] = field(default_factory=set)


class _FormParser(HTMLParser):
    """The forms of a page, with those of their controls that stand elsewhere."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__()
        self.forms: list[HtmlForm] = []
        self.main = 0
        self._path = path
        self._lines = [0]
        self._lines += [at + 1 for at, each in enumerate(text) if each == "\n"]
        self._closed: list[tuple[int, int]] = []
        self._open: HtmlForm | None = None
        self._samples = 0  # for the script: nothing of them is sent
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
    """A page with a form filled in: its text, the place for a notice, the form's anchor, texts that found no field,
    whether something was chosen that is not offered any more, and whether a person entered anything at all.
    """

    text: str
    notice_position: int
    anchor: str
    unplaced_texts: list[str]
    is_choice_lost: bool = False
    has_entries: bool = False


def refill_form(text: str, path: str, unsent: InterruptedRequest) -> RefilledPage:
    """Return the page with these values in the form that posts to their address, if it has one."""
    reader = _FormParser(text, path)
    form = _best_form([each for each in reader.forms if unsent.address in each.addresses], unsent)
    wanted: dict[str, list[str]] = defaultdict(list)
    for name, value in unsent.values:
        wanted[name].append(value)
    if form is None:
        return RefilledPage(text, reader.main, "", _typed_texts(wanted))
    for name in form.buttons:
        wanted.pop(name, None)
    anchor = form.attributes.get("id") or _ANCHOR
    changes = [(start, end, _with_attribute(text[start:end], "open", "")) for start, end in form.closed_details]
    changes += [(form.start, form.end, _with_attribute(text[form.start : form.end], "id", anchor))]
    changes += [change for control in form.controls for change in _changes_of(text, control, wanted)]
    is_choice_lost = any(wanted.get(each.name) for each in form.controls if each.kind in _CHOSEN)
    at = reader.main + _shift(changes, reader.main)
    fields = {each.name for each in form.controls if each.kind not in ("hidden", *_BUTTONS)}
    has_entries = any(value and name in fields for name, value in unsent.values)
    return RefilledPage(_apply_changes(text, changes), at, anchor, _typed_texts(wanted), is_choice_lost, has_entries)


def _best_form(forms: list[HtmlForm], unsent: InterruptedRequest) -> HtmlForm | None:
    """Return the form that the values came from, of several that post to one address: each row of a list has its own,
    told apart by what it hides.
    """
    values = set(unsent.values)
    names = {name for name, _ in values}

    def likeness(form: HtmlForm) -> tuple[int, int]:
        hidden = sum((each.name, each.value) in values for each in form.controls if each.kind == "hidden")
        return hidden, sum(each.name in names for each in form.controls)

    return max(forms, key=likeness, default=None)


def _changes_of(text: str, control: HtmlControl, wanted: dict[str, list[str]]) -> Iterator[tuple[int, int, str]]:
    """Yield what of the page has to be written anew for one control, and take its value from `wanted`."""
    if control.kind in _BUTTONS or control.name in TECHNICAL_FIELDS:
        return
    values, raw = wanted.get(control.name, []), text[control.start : control.end]
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
    """One start tag, read."""

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
    """Return by how much what stands at `before` moves."""
    ordered = sorted(changes)
    return sum(len(new) - (end - start) for start, end, new in ordered[: bisect_left(ordered, (before,))])


def _typed_texts(left_over: dict[str, list[str]]) -> list[str]:
    """Return the texts among values without a field that a person typed: not choices and sealed values."""
    values = [value.strip() for listed in left_over.values() for value in listed]
    return [value for value in values if " " in value or "\n" in value or "@" in value or not value.isascii()]
