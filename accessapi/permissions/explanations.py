"""Why a person has access or not, as a sentence that people can check.

The sentences are English message ids; `translate` (such as gettext) translates them.
"""

from __future__ import annotations

from accessapi.permissions.decision import Decision, DecisionRule
from accessapi.permissions.phrases import Translate, phrase_schedule


def explain_decision(decision: Decision, translate: Translate = str) -> str:
    """Return the reason of a decision in one sentence."""
    _ = translate
    sentences = {
        DecisionRule.BEFORE_USE: _("Refused: the use period has not begun."),
        DecisionRule.AFTER_USE: _("Refused: the use period is over."),
        DecisionRule.EVERYWHERE: _("Allowed: everything here is allowed, including what is added later."),
        DecisionRule.NOWHERE: _("Refused: no access rights."),
        DecisionRule.NOT_LISTED: _("Refused: no access right for it."),
        DecisionRule.ALWAYS: _("Allowed at any time."),
        DecisionRule.NEVER: _("Refused: set to “never”."),
        DecisionRule.OUTSIDE_SCHEDULE: _("Refused: outside the scheduled hours."),
        DecisionRule.RIGHTS_NOT_READ: _("Unknown: this member's rights are not loaded yet."),
        DecisionRule.UNKNOWN_VALUE: _("Unknown: these rights use a setting this portal does not recognise."),
    }
    if decision.rule is DecisionRule.SCHEDULE:
        text = _("Allowed by the schedule: %(item)s.") % {"item": phrase_schedule([decision.item], _)}
    else:
        text = sentences[decision.rule]
    if decision.holiday is None:
        return text
    holiday = decision.holiday or _("a weekly holiday")
    return _("%(text)s The day is a holiday (%(holiday)s).") % {"text": text, "holiday": holiday}
