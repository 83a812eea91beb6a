"""The plan of a job that a person previews: its rows, and the members that it leaves out with the reasons."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# A member ID, the body to send, and the values that it replaces, with the specification's names.
RowChange = tuple[str, Mapping[str, Any], Mapping[str, Any]]
# The number of members to name for each reason.
MOST_NAMED = 10


@dataclass
class ChangePlan:
    """The rows for `actions.prepare`, the number of skipped members by reason, and the first IDs of each reason."""

    rows: list[RowChange] = field(default_factory=list)
    deletions: list[RowChange] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    left_out_ids: dict[str, list[str]] = field(default_factory=dict)

    def leave_out(self, reason: str, member_id: str) -> None:
        """Count a skipped member, and keep the ID of the first ones ("" for an unknown member)."""
        self.left_out[reason] += 1
        if member_id and self.left_out[reason] <= MOST_NAMED:
            self.left_out_ids.setdefault(reason, []).append(member_id)

    @property
    def is_empty(self) -> bool:
        return not self.rows and not self.deletions

    @property
    def options(self) -> dict[str, Any]:
        """Return the skipped members as options of the job."""
        return {"left_out": dict(self.left_out), "left_out_named": self.left_out_ids}
