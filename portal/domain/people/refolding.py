"""Fold stored names, codes and texts again in the background, after a release that folds more than the one before.

A migration adds a row of `Refolding` for each tenant and table (`0003_refolding.py`). Batches follow each other.
The place after a batch is saved in its transaction, so a crash loses nothing. Until a table is done, its rows may have
the former form. `text_folding.stored_forms` returns both forms, and queries look for both.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction

from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.people import row_building
from portal.domain.people.member_fields import CARD
from portal.domain.people.models import Group, Guest, Member, MemberSearch, Refolding
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import sort_key
from tenants.models import TenantModel

BATCH_SIZE = 500
_STEP_SECONDS = 10.0

# Folds the rows after a place (None at first) and returns the place after them; None if there were none.
FoldBatch = Callable[[Any], Any]
_tables: dict[str, FoldBatch] = {}


def register(name: str, fold_batch: FoldBatch) -> None:
    """Register a table with folded columns by the name that migrations use."""
    _tables[name] = fold_batch


def continue_refolding(row_id: int) -> None:
    """Fold the next rows of a table for some seconds. The table's row is deleted when all are folded."""
    until = time.monotonic() + _STEP_SECONDS
    while fold_next_batch(row_id):
        if time.monotonic() >= until:
            Refolding.objects.filter(pk=row_id).update(due_at=ClockTime())
            return


def fold_next_batch(row_id: int) -> bool:
    """Fold one batch. Return False if nothing is left, or another worker is at it."""
    with transaction.atomic():
        row = Refolding.objects.select_for_update(skip_locked=True).filter(pk=row_id).first()
        if row is None:
            return False
        row.place = _tables[row.table](row.place)
        if row.place is None:
            row.delete()
            return False
        row.save(update_fields=["place"])
        return True


REFOLDING = Process(
    name="folded_texts",
    rows=due(Refolding),
    step=continue_refolding,
    queue="sync",
    every=5.0,
    seconds=60,
    claim_values=retry_after(90),
)


@dataclass(frozen=True)
class FoldedTable:
    """A table whose rows are folded in the order of their keys. `texts` is the text of each folded column."""

    model: type[TenantModel]
    texts: Mapping[str, str]
    lock_order: str = "pk"

    def fold_batch(self, place: Any) -> Any:
        rows = self.model.objects.filter(pk__gt=place or 0).order_by("pk").only("tenant", *self.columns, *self.sources)
        found = list(rows[:BATCH_SIZE])
        if outdated := [row.pk for row in found if self._fold(row)]:
            self._write(outdated)
        return found[-1].pk if found else None

    @property
    def columns(self) -> list[str]:
        return list(self.texts)

    @property
    def sources(self) -> list[str]:
        return list(self.texts.values())

    def folded_values(self, row: Any) -> dict[str, Any]:
        return {column: sort_key(getattr(row, text)) for column, text in self.texts.items()}

    def _fold(self, row: Any) -> bool:
        """Set the folded columns of a row. Return whether any was outdated."""
        new = {name: value for name, value in self.folded_values(row).items() if getattr(row, name) != value}
        for name, value in new.items():
            setattr(row, name, value)
        return bool(new)

    def _write(self, outdated: Sequence[int]) -> list[Any]:
        """Fold rows again while they are locked: another process may have renamed someone since they were read."""
        rows = list(self.model.objects.filter(pk__in=outdated).order_by(self.lock_order).select_for_update())
        for row in rows:
            self._fold(row)
        self.model.objects.bulk_update(rows, self.columns, batch_size=200)
        return rows


class _MemberTable(FoldedTable):
    """The table of members, with the fingerprints of their cards and their search pieces."""

    @property
    def columns(self) -> list[str]:
        return [*super().columns, "card_fingerprint"]

    @property
    def sources(self) -> list[str]:
        return [*super().sources, CARD.name]

    def folded_values(self, row: Any) -> dict[str, Any]:
        card = row.card_data
        prints = {"card_fingerprint": _reader(row.tenant_id).card_fingerprint(card)} if card else {}
        return super().folded_values(row) | prints

    def _write(self, outdated: Sequence[int]) -> list[Any]:
        row_building.lock_last_seen()  # as swaps and readings of the log do before they lock members
        rows = super()._write(outdated)
        pieces = [
            MemberSearch(
                member=row,
                tenant_id=row.tenant_id,
                pieces=_reader(row.tenant_id).pieces(row.name_key, row.code_key),
            )
            for row in rows
        ]
        MemberSearch.objects.bulk_create(
            pieces, update_conflicts=True, unique_fields=["member"], update_fields=["pieces"]
        )
        return rows


_reader = lru_cache(maxsize=1)(MemberRowBuilder)
_MEMBER_TEXTS = {"name_key": "member_name", "code_key": "member_code", "group_key": "membergroup_name"}
register("members", _MemberTable(Member, _MEMBER_TEXTS, "member_id").fold_batch)
register("groups", FoldedTable(Group, {"name_key": "membergroup_name"}).fold_batch)
register("guests", FoldedTable(Guest, {"name_key": "guest_name"}).fold_batch)
