"""The states of key boxes and their keys in words, and which keys are out for too long by the tenant's rule for alerts.

People who may see log records get states that also use the log (`by_log`). Others get states from readings of the key
boxes only.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    DateTimeField,
    ExpressionWrapper,
    F,
    IntegerField,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Concat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.overrides import States
from portal.base.timers.clock import ClockTime
from portal.base.ui.chips import Chip
from portal.base.ui.value_words import join_values, service_word
from portal.domain.alerts.models import Rule
from portal.domain.places.models import Key, KeyBox, KeyState

# The kind of alert whose rule limits how long a key may be out, and its default in hours.
OVERDUE_RULE, DEFAULT_HOURS = "key_overdue", 12
_HEAVY = ("key_box__status", "key_box__extra", "key_box__units")
# A key's place with an error of the key box, or with another key in it.
FAULTY = Q(raw__errors__0__isnull=False) | Q(wrong=True)


def overdue_at() -> Any:
    """Return, for a statement, the moment before which a key that is out was taken too long ago."""
    rules = Rule.objects.filter(kind=OVERDUE_RULE, is_added=False).annotate(
        allowed=Cast(KeyTextTransform("hours", "values"), IntegerField())
    )
    hours = Coalesce(Subquery(rules.values("allowed")[:1]), Value(DEFAULT_HOURS))
    return ExpressionWrapper(ClockTime() - hours * Value(timedelta(hours=1)), output_field=DateTimeField())


def state_columns(*, by_log: bool) -> tuple[str, str]:
    """Return the columns of a key's state and of its beginning."""
    return ("state", "since") if by_log else ("read_state", "read_since")


def keys_with_state(*, by_log: bool) -> QuerySet[Key]:
    """Return all keys with `shown`, `late`, `who`, `odd` and `line`, ordered by `urgency`.

    Keys with a discrepancy or fault come first, then keys that are out (longest first), then keys with unknown
    location.
    """
    state, since = state_columns(by_log=by_log)
    late = Q(**{state: KeyState.OUT, f"{since}__lte": overdue_at()})
    annotations = {
        "shown": F(state),
        "late": ExpressionWrapper(late, output_field=BooleanField()),
        "who": F("holder_id") if by_log else Value("", output_field=TextField()),
        "odd": F("differs") if by_log else Value(False, output_field=BooleanField()),
        "line": KeyTextTransform("cloud_com_status", "key_box__status"),
    }
    rows = Key.objects.select_related("key_box").defer(*_HEAVY).annotate(**annotations)
    first = Coalesce(Cast(since, CharField()), Value(""))
    rank = Case(
        When(Q(odd=True) | FAULTY, then=Value("1")),
        When(shown=KeyState.OUT, then=Concat(Value("2"), first, output_field=CharField())),
        When(shown=KeyState.UNKNOWN, then=Value("3")),
        default=Value("4"),
    )
    place = Concat(rank, Value(" "), "key_box__name_order", Value(" "), "number_order", output_field=CharField())
    return rows.annotate(urgency=place).order_by("urgency", "pk")


def find_listed(listed: Iterable[dict[str, Any]]) -> list[Key]:
    """Return the rows of `keys_with_state` that are in a key_devices_list of the specification, if known."""
    numbers = {
        (str(each.get("key_device_id")), str(number))
        for each in listed
        if isinstance(each, dict)
        for number in each.get("units_no_list") or ()
    }
    rows = keys_with_state(by_log=True).filter(key_box__key_device_id__in={box for box, _number in numbers})
    found = rows.order_by("key_box__name_order", "number_order")
    return [key for key in found if (key.key_box.key_device_id, key.unit_no) in numbers]


def state_of(key: Key, states: States) -> Chip:
    """Return the state of a row of `keys_with_state`: where the key is, with its problems.

    The state is unknown if nothing is known about the key.
    """
    values = vars(key)
    state, wrong = KeyState(values["shown"]), join_values(_problems(key, states))
    if values["late"]:
        return Chip("key_overdue", problem=wrong)
    if state:
        return Chip(state.chip, problem=wrong)
    return Chip("key_wrong" if key.wrong else key.word or state.chip, problem=wrong)


def _problems(key: Key, states: States) -> Iterator[str]:
    """Yield the problems of a key, and doubts about it."""
    if key.wrong:
        yield _("Another key is in its place")
    if faults := error_texts(each for each in key.errors if not states.is_wrong_key([each])):
        yield faults
    if vars(key)["odd"]:
        yield _("Key box and activity log don’t match")
    if not states.is_connected(vars(key)["line"]):
        yield _("Key box offline")


def state_of_box(box: KeyBox, states: States) -> Chip:
    """Return a key box's state with its problems. The state is unknown before the first reading."""
    wrong = join_values(_problems_of_box(box, states))
    if box.status_as_of is None:
        return Chip("unknown", problem=wrong)
    return Chip("connected" if is_connected(box, states) else "offline", as_of=box.status_as_of, problem=wrong)


def _problems_of_box(box: KeyBox, states: States) -> Iterator[str]:
    if not states.is_powered(box.power_status):
        yield _("No power") if box.power_status == "stopped" else service_word("power", box.power_status)
    if faults := error_texts(box.errors):
        yield faults


def is_connected(box: KeyBox, states: States) -> bool:
    """Return True if the last reading says that the key box is connected to the service."""
    return states.is_connected(box.cloud_com_status)


def error_texts(errors: Iterable[str]) -> str:
    """Return errors of a key box or a key's place in words."""
    return join_values(service_word("error", each) for each in errors)


def offline_text(number: int) -> str:
    """Return the text that so many key boxes are offline. The caller fills in the number."""
    return ngettext("%(n)d key box offline", "%(n)d key boxes offline", number)
