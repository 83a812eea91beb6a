"""Why somebody may pass or may not, as a sentence a person can check.

The sentences are English message ids; `translate` (gettext or anything like it) puts them into the reader's language.
"""

from __future__ import annotations

from accessapi.permissions.decision import Decision, Rule
from accessapi.permissions.phrases import Translate, phrase_schedule


def explain(decision: Decision, translate: Translate = str) -> str:
    """Return why the answer is what it is, in one sentence."""
    _ = translate
    sentences = {
        Rule.BEFORE_USE: _("Refused: the use period has not begun."),
        Rule.AFTER_USE: _("Refused: the use period is over."),
        Rule.EVERYWHERE: _("Allowed: everything here is allowed, including what is added later."),
        Rule.NOWHERE: _("Refused: no access rights."),
        Rule.NOT_LISTED: _("Refused: no access right for it."),
        Rule.ALWAYS: _("Allowed at any time."),
        Rule.NEVER: _("Refused: set to “never”."),
        Rule.OUTSIDE_SCHEDULE: _("Refused: outside the scheduled hours."),
        Rule.RIGHTS_NOT_READ: _("Unknown: this member's rights are not loaded yet."),
        Rule.UNKNOWN_VALUE: _("Unknown: these rights use a setting this portal does not recognise."),
    }
    if decision.rule is Rule.SCHEDULE:
        text = _("Allowed by the schedule: %(item)s.") % {"item": phrase_schedule([decision.item], _)}
    else:
        text = sentences[decision.rule]
    if decision.holiday is None:
        return text
    holiday = decision.holiday or _("a weekly holiday")
    return _("%(text)s The day is a holiday (%(holiday)s).") % {"text": text, "holiday": holiday}
