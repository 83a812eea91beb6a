"""What a record is to whoever looks at a day: somebody passed, was refused, something is wrong, or another thing."""

from typing import Any

from django.db.models import Case, CharField, Q, TextChoices, Value, When
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.overrides import Records
from portal.core.log.causes import OPERATION
from portal.core.mirror.models import History
from portal.core.mirror.places import USED

_OVER = "restore"


class Sort(TextChoices):
    """Each record has one; in the order in which bars are piled up."""

    ENTRY = "entry", pgettext_lazy("log", "Entries")
    REFUSED = "refused", _("Refused")
    ALARM = "alarm", _("Alarms and faults")
    OTHER = "other", pgettext_lazy("log", "Other")


def sort_of(record: History, words: Records) -> Sort:
    """Return the sort of a record; `words` are the categories of the service environment."""
    somebody = bool(record.member_id or record.member_name)
    if somebody and record.category == USED:
        return Sort.ENTRY
    if somebody and record.category in words.refused:
        return Sort.REFUSED
    return Sort.ALARM if record.category in _alarming(words) and record.status != _OVER else Sort.OTHER


def by_sort(words: Records) -> Any:
    """The same as `sort_of`, for the database."""
    somebody = ~Q(member_id="") | ~Q(member_name="")
    return Case(
        When(somebody & Q(category=USED), then=Value(Sort.ENTRY.value)),
        When(somebody & Q(category__in=words.refused), then=Value(Sort.REFUSED.value)),
        When(Q(category__in=_alarming(words)) & ~Q(status=_OVER), then=Value(Sort.ALARM.value)),
        default=Value(Sort.OTHER.value),
        output_field=CharField(),
    )


def _alarming(words: Records) -> set[str]:
    """The known categories that tell of anything but use and operation."""
    return {*words.categories, *words.suspicious} - {USED, OPERATION}
