"""The sentences that are stored as codes, in the reader's language: of requests, long jobs and the audit log.

Each app registers its own in `signals.py`, which the site imports at start (`portal.site.apps`). A code that rows may
hold is never removed, and its meaning never changes. An audit log entry uses its action as its code if the action has
one sentence. Values that are counted are called `n`.

A stored sentence is a code with its values. Older rows keep their stored sentence as plain text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from django.db import models
from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

# Filled at start: sentences by their code, kinds of targets by the first part of a target's code, and actors in the
# audit log that are not people.
TEXTS: dict[str, Promise] = {}
TARGETS: dict[str, Promise] = {}
ACTORS: dict[str, Promise] = {}
# Names that are never stored, since they are deleted later, and the text for a name that is not looked up. They are
# not registered: the audit log must never hold them, also if an app is missing.
REPLACEMENT_NAMES: Mapping[str, Promise] = {"guest": _("a guest")}


def register_sentences(texts: Mapping[str, Promise]) -> None:
    """Add an app's sentences by their codes. Raises ValueError for a code that is registered already."""
    _add(TEXTS, texts)


def register_targets(words: Mapping[str, Promise]) -> None:
    """Add the words for kinds of targets. Raises ValueError for a kind that is registered already."""
    _add(TARGETS, words)


def target_words(target: str, name: str = "") -> str:
    """Return a target in words: its kind with its name or its number.

    Codes that are no numbers for people are left out: UUIDs, words, and the row of a tenant's only connection.
    """
    kind, _colon, code = target.partition(":")
    word = TARGETS.get(target) or TARGETS[kind]
    if name:
        return pgettext("audit log target", "%(kind)s “%(name)s”") % {"kind": word, "name": name}
    is_number = any(each.isdigit() for each in code) and len(code) < _CODE_MAX and " " not in code
    if not is_number or kind == "connection":
        return str(word)
    return pgettext("audit log target", "%(kind)s %(number)s") % {"kind": word, "number": code}


def register_actors(names: Mapping[str, Promise]) -> None:
    """Add the names of actors that are not people. Raises ValueError for one that is registered already."""
    _add(ACTORS, names)


class Subject(NamedTuple):
    """A subject in the filter of the audit log, with its actions: operations, and the first words of action codes."""

    title: Promise
    actions: Sequence[str]


_SUBJECTS: dict[str, Subject] = {}
_OWN_SUBJECTS = {
    "connection": Subject(_("Connection"), ("connection",)),
    "staff": Subject(_("Staff"), ("staff",)),
    "support": Subject(_("Support sessions"), ("support",)),
    "tenant": Subject(_("Tenant"), ("tenant", "restore")),
}


def register_subject(key: str, title: Promise, actions: str) -> None:
    """Add a subject to the filter of the audit log, with its actions separated by blanks.

    Raises ValueError for a key that is registered already.
    """
    _add(_SUBJECTS, {key: Subject(title, actions.split())})


def subjects() -> dict[str, Subject]:
    """Return the subjects by their keys, in the order of the apps; those of tenants are the last."""
    return _SUBJECTS | _OWN_SUBJECTS


_Value = TypeVar("_Value")


def _add(known: dict[str, _Value], more: Mapping[str, _Value]) -> None:
    if twice := known.keys() & more.keys():
        raise ValueError(f"Registered twice: {', '.join(sorted(twice))}.")
    known.update(more)


MAX_VALUE_LENGTH = 200
_CODE_MAX = 30
# Marks a stored text as code and values: no text that a person typed begins with it.
_MARK = "\x1f"


@dataclass(frozen=True)
class Sentence:
    """A sentence that is not in any language yet. `values` are texts, numbers, and sentences.

    As text it is in the active language. An unknown code is shown as the code, on a page in code type.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        return self.code in TEXTS

    def __str__(self) -> str:
        values = dict(REPLACEMENT_NAMES) | dict(self.values)
        try:
            return str(TEXTS[self.code] % {name: _format_value(value) for name, value in values.items()})
        except (KeyError, TypeError, ValueError):  # written by another version, with other codes or values
            return self.code

    def __html__(self) -> SafeString:
        return conditional_escape(str(self)) if self.is_known else format_html("<code>{}</code>", self.code)

    def with_names(self, **names: str) -> Sentence:
        """Return the sentence with these names, also in the sentences within it. For one reader, not to be stored."""
        within = {name: v.with_names(**names) if isinstance(v, Sentence) else v for name, v in self.values.items()}
        return Sentence(self.code, within | names)

    @property
    def without_names(self) -> Sentence:
        """Return the sentence without the names that will be deleted."""
        values = {name: value for name, value in self.values.items() if name not in REPLACEMENT_NAMES}
        return Sentence(
            self.code, {name: v.without_names if isinstance(v, Sentence) else v for name, v in values.items()}
        )


def coded_sentence(code: str, **values: Any) -> Sentence:
    """Return a sentence of `tenants.sentences` to store, with its values.

    Numbers and sentences stay as they are; all others become texts.
    """
    return Sentence(code, {name: _storable_value(value) for name, value in values.items()})


def render(text: Sentence | str) -> SafeString:
    """Return a sentence as pages show it."""
    return text.__html__() if isinstance(text, Sentence) else conditional_escape(text)


if TYPE_CHECKING:
    _Text = models.TextField[Sentence | str, Sentence | str]
else:  # takes no parameters at run time
    _Text = models.TextField


class SentenceField(_Text):
    """A field that stores a `Sentence` as code and values, and plain text unchanged. Reading returns the same type."""

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> Sentence | str | None:
        return _parse(value) if value is not None and value.startswith(_MARK) else value

    def to_python(self, value: Any) -> Any:
        return value if isinstance(value, Sentence) else super().to_python(value)

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, Sentence):
            return _MARK + json.dumps(_as_json(value), ensure_ascii=False)
        return super().get_prep_value(value.lstrip(_MARK) if isinstance(value, str) else value)


class _Number(int):
    """A number that is shown with thousands separators as text; `%d` leaves it without."""

    def __str__(self) -> str:
        return f"{int(self):,}"


def _format_value(value: Any) -> Any:
    if isinstance(value, int):
        return _Number(value)
    return str(value) if isinstance(value, Sentence) else value


def _storable_value(value: Any) -> Any:
    return value if isinstance(value, int | Sentence) else str(value)[:MAX_VALUE_LENGTH]


def _as_json(sentence: Sentence) -> list[Any]:
    return [sentence.code, {name: _as_json(v) if isinstance(v, Sentence) else v for name, v in sentence.values.items()}]


def _parse(value: str) -> Sentence:
    sentence: Sentence = _from_json(json.loads(value.removeprefix(_MARK)))
    return sentence


def _from_json(stored: Any) -> Any:
    if not isinstance(stored, list):
        return stored
    code, values = stored
    return Sentence(code, {name: _from_json(value) for name, value in values.items()})
