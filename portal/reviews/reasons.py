"""Texts about why a person may not decide about a right, and who can."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from portal.base.ui.times import local
from portal.reviews import assigning, conflicts
from portal.reviews.models import Item
from tenants.models import User

_MAX_NAMES = 5


def add_granters(rows: Sequence[Item]) -> None:
    """Set on items who gave the right and when (`given`), and who can decide instead (`deciders`)."""
    people = User.objects.in_bulk({who for row in rows for who, _at in row.granted})
    deciders = assigning.reviewers() if any(row.barred for row in rows) else []
    for row in rows:
        vars(row)["given"] = [(people[who], datetime.fromisoformat(at)) for who, at in row.granted if who in people]
        vars(row)["deciders"] = [str(user) for user in deciders if not conflicts.is_barred(row, user.pk)]


def barred_reviewer_text(row: Any) -> str:
    """Return the text for the reviewer about why they may not decide; empty if they may."""
    return " ".join(barred_reviewer_texts(row))


def barred_reviewer_texts(row: Any) -> tuple[str, ...]:
    """Return the same as two sentences: the reason, and who can decide."""
    if not conflicts.is_barred(row, row.reviewer_id):
        return ()
    return _barred_text(row.barred[str(row.reviewer_id)]), _deciders_text(row.deciders)


def barred_manager_text(row: Any) -> str:
    """Return the same text for the review's manager."""
    if not conflicts.is_barred(row, row.reviewer_id):
        return ""
    given, who = row.barred[str(row.reviewer_id)], row.reviewer
    if given:
        told = {"who": who, "day": _day_text(given)}
        said = _("%(who)s granted this access on %(day)s and may not decide. Assign another reviewer.") % told
    else:
        said = _("This is the access of %(who)s, who may not decide. Assign another reviewer.") % {"who": who}
    return f"{said} {_deciders_text(row.deciders)}"


def _barred_text(given: str) -> str:
    if given:
        return _("You granted this access on %(day)s. Another reviewer decides.") % {"day": _day_text(given)}
    return _("This is your own access, by your name or e-mail address. Another reviewer decides.")


def _deciders_text(deciders: Sequence[str]) -> str:
    if not deciders:
        return _("No one else here can decide: an owner can invite another reviewer.")
    return _("Who can: %(names)s.") % {
        "names": ", ".join([*deciders[:_MAX_NAMES], *["…"][: len(deciders) > _MAX_NAMES]])
    }


def _day_text(at: str) -> str:
    return local(datetime.fromisoformat(at)).date().isoformat()
