"""Limits of a member's values: stated by the service's environment, or learned from its refusals.

Stated limits are enforced by forms, imports and the client. Learned limits are only shown next to the field: they are
parsed from a sentence, and the service may change them.
"""

import re
from collections.abc import Callable
from typing import Any

from django import forms
from django.db import transaction
from django.utils.translation import gettext as _t

from accessapi import limits
from portal.domain.intents.models import Intent
from portal.domain.intents.states import Reason, State
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, current_tenant

_TIMESTEP = "one_time_timestep_max"


def timestep_field() -> forms.IntegerField:
    """Return the field for the seconds of a one-time code, with the known maximum."""
    stated = _stated_max()
    return forms.IntegerField(
        label=_t("Code changes every (seconds)"),
        required=False,
        initial=usual_timestep(),
        min_value=limits.TIMESTEP_MIN,
        max_value=stated,
        help_text=" ".join(filter(None, [_t("Shorter is safer."), _limit_text(stated)])),
    )


def usual_timestep() -> int:
    """Return the default number of seconds of a code."""
    return min(limits.TIMESTEP_DEFAULT, _stated_max())


def _stated_max() -> int:
    return current_tenant().environment.catalogue.limits.one_time_timestep_max


def _limit_text(stated: int) -> str:
    learned = current_connection().limits_learned.get(_TIMESTEP) or {}
    if isinstance(learned.get("most"), int) and learned["most"] < stated:
        return _t("The service allows at most %(n)d.") % {"n": learned["most"]}
    if isinstance(learned.get("refused"), int) and learned["refused"] <= stated:
        return _t("The service refused %(n)d.") % {"n": learned["refused"]}
    return _t("The service allows at most %(n)d.") % {"n": stated} if stated < limits.TIMESTEP_MAX else ""


def learning_from(form: Any, act: Callable[..., Intent]) -> Callable[..., Intent]:
    """Return `act` extended so that a limit is learned from the service's answer to a member's form."""

    def asked(**given: Any) -> Intent:
        intent = act(**given)
        _learn(intent, form)
        return intent

    return asked


def _learn(intent: Intent, form: Any) -> None:
    """Save a learned limit and show it next to the field of this form."""
    sent = _timestep(intent.body)
    if sent is None:
        return
    known = current_connection().limits_learned.get(_TIMESTEP) or {}
    if intent.state == State.SUCCEEDED and known and sent >= min(known.values()):
        _save(None)
    elif intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        about = [each for each in intent.error_detail.splitlines() if re.search(r"(?<![a-z])timestep", each)]
        if about:
            _save(_limit_in(about[0], sent))
            form["qr_timestep"].help_text = timestep_field().help_text


def _limit_in(words: str, sent: int) -> dict[str, int]:
    """Return the one number in the service's message that can be a limit, else the refused value."""
    numbers = {int(each) for each in re.findall(r"(?<![\w.])\d{1,6}(?![\w])", words)}
    bounds = [each for each in numbers if limits.TIMESTEP_MIN < each < sent]
    return {"most": bounds[0]} if len(bounds) == 1 else {"refused": sent}


def _save(learned: dict[str, int] | None) -> None:
    with transaction.atomic():
        row = Connection.objects.select_for_update().get()
        others = {name: value for name, value in row.limits_learned.items() if name != _TIMESTEP}
        row.limits_learned = {**others, _TIMESTEP: learned} if learned else others
        row.save(update_fields=["limits_learned"])


def _timestep(body: Any) -> int | None:
    qrcode = body.get("qrcode") if isinstance(body, dict) else None
    once = qrcode.get("one_time_qr") if isinstance(qrcode, dict) else None
    step = once.get("timestep") if isinstance(once, dict) else None
    return step if isinstance(step, int) else None
