"""The algebra of devices_pass and keys_pass.

Rights are the plain JSON objects the service returns; nothing here changes its arguments, and unknown modes, effects
and entries are always kept. `decide` says who may pass where and when, `grant_*` and `withdraw_*` return new rights,
`compare_*` lists what differs, `phrase` and `explain` put it into words.
"""

from accessapi.permissions.change import (
    NeedsInventory,
    UnknownRights,
    grant_area,
    grant_key,
    grant_key_box,
    withdraw_area,
    withdraw_key,
    withdraw_key_box,
)
from accessapi.permissions.decision import AreaPlace, Decision, KeyPlace, Rule, decide, decide_place
from accessapi.permissions.difference import Change, compare_devices, compare_keys
from accessapi.permissions.holidays import NO_HOLIDAYS, Holidays
from accessapi.permissions.normal import normalise_devices, normalise_keys
from accessapi.permissions.passes import all_day, always, by_schedule, dated, never, weekly
from accessapi.permissions.phrases import phrase, phrase_days
from accessapi.permissions.words import explain

__all__ = [
    "NO_HOLIDAYS",
    "AreaPlace",
    "Change",
    "Decision",
    "Holidays",
    "KeyPlace",
    "NeedsInventory",
    "Rule",
    "UnknownRights",
    "all_day",
    "always",
    "by_schedule",
    "compare_devices",
    "compare_keys",
    "dated",
    "decide",
    "decide_place",
    "explain",
    "grant_area",
    "grant_key",
    "grant_key_box",
    "never",
    "normalise_devices",
    "normalise_keys",
    "phrase",
    "phrase_days",
    "weekly",
    "withdraw_area",
    "withdraw_key",
    "withdraw_key_box",
]
