"""What counts as a safety rule: each is registered from `AppConfig.ready()` by the room that keeps the setting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from portal.core.intents.recording import Requester
from tenants.roles import Permission
from tenants.wording import Sentence

SettingValues = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SafetyRule:
    """A setting that one person alone may not loosen. Each callable gets the `subject` first: which of several settings
    of one kind it is, "" where there is one.

    `read` returns what is kept,
    as JSON has it; `is_looser` compares that with what is wanted; `save` stores it with its
    audit entry, inside a transaction. `describe` and `page_route` (a URL name and its arguments) are for people.
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
