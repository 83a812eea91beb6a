"""The type of a log record for the pages of a day: passed, refused, problem, or other."""

import re
from typing import Any

from django.db.models import Case, CharField, Q, TextChoices, Value, When
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.doors import Patterns
from accessapi.overrides import Catalogue
from portal.domain.mirror.models import History


class RecordType(TextChoices):
    """The type of a record, in the order in which bars are stacked."""

    ENTRY = "entry", pgettext_lazy("log", "Entries")
    REFUSED = "refused", _("Refused")
    ALARM = "alarm", _("Alarms and faults")
    OTHER = "other", pgettext_lazy("log", "Other")


def type_of(record: History, words: Catalogue) -> RecordType:
    """Return the type of a record; `words` are those of the service environment."""
    somebody = bool(record.member_id or record.member_name)
    if somebody and record.category in words.records.used:
        return RecordType.ENTRY
    if somebody and record.category in words.records.refused:
        return RecordType.REFUSED
    is_alarm = record.category in words.records.alarm_categories and not words.states.is_over(record.status)
    return RecordType.ALARM if is_alarm else RecordType.OTHER


def type_expression(words: Catalogue) -> Any:
    """Return the same as `type_of`, as a database expression."""
    somebody, over = ~Q(member_id="") | ~Q(member_name=""), _matches_one_of("status", words.states.over)
    return Case(
        When(somebody & Q(category__in=words.records.used), then=Value(RecordType.ENTRY.value)),
        When(somebody & Q(category__in=words.records.refused), then=Value(RecordType.REFUSED.value)),
        When(Q(category__in=words.records.alarm_categories) & ~over, then=Value(RecordType.ALARM.value)),
        default=Value(RecordType.OTHER.value),
        output_field=CharField(),
    )


def _matches_one_of(column: str, patterns: Patterns) -> Q:
    """Return the condition that a column matches one of these patterns, in which * matches anything."""
    wanted = (".*".join(map(re.escape, pattern.split("*"))) for pattern in patterns)
    return Q(**{f"{column}__regex": f"^({'|'.join(wanted)})$"})
