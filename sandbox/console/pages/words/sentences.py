"""The texts of the service's records in another language. Unknown texts stay unchanged."""

import re
from typing import Any

_HOLIDAY = re.compile(r"(?P<text>.+) The day is a holiday \((?P<holiday>.*)\)\.", re.DOTALL)
_SCHEDULE = re.compile(r"Allowed by the schedule: (?P<item>.+)\.", re.DOTALL)
_REMOTE = re.compile(r"Remote (?P<control>[a-z_]+) (?P<outcome>[a-z_]+)(?P<rest>.*)", re.DOTALL)
_TEMPORARY = re.compile(r"Temporary use; (?P<seconds>\d+) s(?P<rest>.*)", re.DOTALL)


def translate_sentence(text: str, words: dict[str, Any]) -> str:
    """Return the sentence in the language of `words`."""
    known: dict[str, str] = words["sentences"]
    if not known or text in known:
        return known.get(text, text)
    if found := _HOLIDAY.fullmatch(text):
        return known["holiday"].format(text=translate_sentence(found["text"], words), holiday=found["holiday"])
    if found := _SCHEDULE.fullmatch(text):
        return known["schedule"].format(item=_item(found["item"], words["schedule"]))
    if found := _REMOTE.fullmatch(text):
        control = words["controls"].get(found["control"], found["control"])
        outcome = words["request_states"].get(found["outcome"], found["outcome"])
        return known["remote"].format(control=control, outcome=outcome, rest=_rest(found["rest"], known))
    if found := _TEMPORARY.fullmatch(text):
        return known["temporary"].format(seconds=found["seconds"], rest=_rest(found["rest"], known))
    return text


def _rest(text: str, known: dict[str, str]) -> str:
    for mark in ("; request ", "; "):
        text = text.replace(mark, known[mark])
    return text


def _item(text: str, parts: dict[str, str]) -> str:
    for english in sorted(parts, key=len, reverse=True):
        text = text.replace(english, parts[english])
    return text
