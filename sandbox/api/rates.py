"""Count calls per token and class in a window, sliding or fixed (specification: Limits), with one atomic statement."""

import math
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from accessapi.operations import CallClass
from sandbox.behaviour import Behaviour

# Concurrent calls of a token queue on its row, and each one reads the result of the one before. In a sliding window a
# call counts by its own age, in a fixed one by that of the window's first call.
_COUNT_CALL = """
INSERT INTO service_ratewindow AS w (token_id, call_class, hits, allowed)
VALUES (%(token)s, %(class)s,
        CASE WHEN %(limit)s > 0 THEN ARRAY[%(now)s]::float8[] ELSE ARRAY[]::float8[] END, %(limit)s > 0)
ON CONFLICT (token_id, call_class) DO UPDATE SET
    allowed = (SELECT count(*) < %(limit)s FROM unnest(w.hits) hit
               WHERE CASE WHEN %(fixed)s THEN w.hits[1] ELSE hit END > %(now)s - %(window)s),
    hits = (SELECT CASE WHEN count(*) < %(limit)s
                        THEN coalesce(array_agg(hit ORDER BY hit), ARRAY[]::float8[]) || %(now)s::float8
                        ELSE coalesce(array_agg(hit ORDER BY hit), ARRAY[]::float8[]) END
            FROM unnest(w.hits) hit WHERE CASE WHEN %(fixed)s THEN w.hits[1] ELSE hit END > %(now)s - %(window)s)
RETURNING allowed, cardinality(hits),
          hits[CASE WHEN %(fixed)s THEN 1 ELSE greatest(cardinality(hits) - %(limit)s + 1, 1) END]
"""


@dataclass(frozen=True)
class Allowance:
    """The rest of a token's window after this call; `reset` is set only while limited."""

    is_allowed: bool
    limit: int
    remaining: int
    reset: int | None

    def headers(self) -> dict[str, str]:
        """Return the rate headers of an answer."""
        headers = {"X-Rate-Limit-Limit": str(self.limit), "X-Rate-Limit-Remaining": str(self.remaining)}
        if self.reset is not None:
            headers["X-Rate-Limit-Reset"] = str(self.reset)
        return headers


def count_call(token_id: int, call_class: CallClass, behaviour: Behaviour, at: datetime) -> Allowance:
    """Count one call if the window has room for it; correct for any number of threads and processes."""
    limit = behaviour.device_limit if call_class is CallClass.DEVICE else behaviour.general_limit
    if not behaviour.limited:
        return Allowance(True, limit, limit, None)
    values = {
        "token": token_id,
        "class": call_class.value,
        "limit": limit,
        "now": at.timestamp(),
        "window": behaviour.window_seconds,
        "fixed": behaviour.fixed_windows,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_CALL, values)
        allowed, used, oldest = cursor.fetchone()
    if allowed:
        return Allowance(True, limit, max(limit - used, 0), None)
    # There is room again when the oldest of the last `limit` calls leaves the window.
    frees_at = (oldest if oldest is not None else at.timestamp()) + behaviour.window_seconds
    return Allowance(False, limit, 0, max(1, math.ceil(frees_at - at.timestamp())))
