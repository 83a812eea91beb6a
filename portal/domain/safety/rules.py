"""The safety rules. The app of each setting registers its rule in `signals.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import pgettext

from portal.domain.intents.recording import Requester
from tenants.roles import Permission
from tenants.sentences import Sentence

SettingValues = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SafetyRule:
    """A setting that one person alone may not loosen.

    Each function gets the `subject` first: it names one of several settings of a kind, and is "" for a single one.
    `read` returns the stored values as JSON; `is_looser` compares them with the wanted ones; `save` stores values with
    an audit entry, inside a transaction. `describe` and `page_route` (a URL name and its arguments) are for people.
    """

    name: str
    permission: Permission
    title: Callable[[str], Sentence]
    read: Callable[[str], SettingValues]
    is_looser: Callable[[str, SettingValues, SettingValues], bool]
    save: Callable[[str, SettingValues, Requester], None]
    describe: Callable[[str, SettingValues], Mapping[str, str]]
    page_route: Callable[[str], tuple[Any, ...]]


RULES: dict[str, SafetyRule] = {}


def register(rule: SafetyRule) -> None:
    """Add a rule; a second registration of its name replaces the first."""
    RULES[rule.name] = rule


def on_or_off(is_on: bool) -> str:
    return pgettext("safety", "On") if is_on else pgettext("safety", "Off")
