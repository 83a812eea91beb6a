"""What an edit would do, before anything is sent: how many change, how many stay, and what has to be read first."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from portal.areas import merging
from portal.areas.merging import Effect, Verdict, Wish
from portal.core.mirror.models import Area, Member
from portal.core.timers.clock import database_now

Change = tuple[str, dict[str, Any], dict[str, Any]]


@dataclass
class Plan:
    """`rows` for a job: (member ID, body, former values); both empty where the rights must be read first.

    `counts` by effect; `unknown_yet`: rights never read; `stale`: known, to be changed, and to be read again before.
    """

    rows: list[Change] = field(default_factory=list)
    counts: Counter[Effect] = field(default_factory=Counter)
    unknown_yet: int = 0
    stale: int = 0

    @property
    def left(self) -> int:
        """Members that were chosen and of whom no row is made."""
        return sum(n for effect, n in self.counts.items() if effect not in (Effect.CHANGES, Effect.WIDENED))

    def told(self) -> dict[str, int]:
        """The counts as a job keeps them."""
        found = {str(effect): n for effect, n in self.counts.items() if n}
        return found | {"unread": self.unknown_yet, "stale": self.stale}


def plan(members: QuerySet[Member], wish: Wish, trust: timedelta, *, everybody: bool = False) -> Plan:
    """Judge every chosen member by what the mirror knows. Members share few different rights: each is judged once.

    `everybody`: a row also for those who stay as they are today, for a job that judges again later.
    """
    all_areas = list(Area.objects.values_list("area_id", flat=True))
    judge = _once(lambda rights: merging.judge(rights, wish, all_areas))
    return _plan(members, lambda _member_id, rights: judge(rights), trust, everybody)


def plan_undo(done: dict[str, tuple[Any, Any]], area_id: str, trust: timedelta) -> Plan:
    """The same for taking back: `done` has (before, after) of each member of the job to be undone."""
    members = Member.objects.filter(member_id__in=done, gone_at__isnull=True)
    return _plan(members, lambda member_id, rights: merging.undo(rights, *done[member_id], area_id), trust)


def _plan(
    members: QuerySet[Member], judge: Callable[[str, Any], Verdict], trust: timedelta, everybody: bool = False
) -> Plan:
    """Judge the devices_pass of each member by name; those whose rights are not known are read first."""
    found, since = Plan(), database_now() - trust
    rows = members.order_by("name_key", "pk").values_list("member_id", "rights", "rights_read_at")
    for member_id, rights, read_at in rows.iterator(chunk_size=2000):
        if rights is None:
            found.unknown_yet += 1
            found.rows.append((member_id, {}, {}))
            continue
        now = rights.get("devices_pass")
        verdict = judge(member_id, now)
        found.counts[verdict.effect] += 1
        found.stale += verdict.sends and (read_at is None or read_at < since)
        if verdict.sends or everybody:
            body = {"devices_pass": verdict.after} if verdict.sends else {}
            found.rows.append((member_id, body, {"devices_pass": now}))
    return found


def _once(judge: Callable[[Any], Verdict]) -> Callable[[Any], Verdict]:
    known: dict[str, Verdict] = {}

    def remembered(rights: Any) -> Verdict:
        key = json.dumps(rights, sort_keys=True)
        if key not in known:
            known[key] = judge(rights)
        return known[key]

    return remembered
