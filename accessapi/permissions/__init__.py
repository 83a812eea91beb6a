"""Functions on rights: devices_pass and keys_pass.

Rights are the service's plain JSON objects. Nothing here changes its arguments, and unknown modes, effects and entries
are always kept. `decide` decides who has access where and when. `grant_*` and `withdraw_*` return new rights.
`compare_*` lists the differences. `phrase_pass` and `explain_decision` return them in words.
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
from accessapi.permissions.decision import AreaPlace, Decision, DecisionRule, KeyPlace, decide, decide_place
from accessapi.permissions.difference import PassChange, compare_devices, compare_keys
from accessapi.permissions.explanations import explain_decision
from accessapi.permissions.holidays import NO_HOLIDAYS, Holidays
from accessapi.permissions.normalising import no_access, normalise_devices, normalise_keys
from accessapi.permissions.passes import all_day, always, between, by_schedule, never, weekly
from accessapi.permissions.phrases import phrase_days, phrase_pass

__all__ = [
    "NO_HOLIDAYS",
    "AreaPlace",
    "Decision",
    "DecisionRule",
    "Holidays",
    "KeyPlace",
    "NeedsInventory",
    "PassChange",
    "UnknownRights",
    "all_day",
    "always",
    "between",
    "by_schedule",
    "compare_devices",
    "compare_keys",
    "decide",
    "decide_place",
    "explain_decision",
    "grant_area",
    "grant_key",
    "grant_key_box",
    "never",
    "no_access",
    "normalise_devices",
    "normalise_keys",
    "phrase_days",
    "phrase_pass",
    "weekly",
    "withdraw_area",
    "withdraw_key",
    "withdraw_key_box",
]
