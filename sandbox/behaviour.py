"""The sandbox's behaviour where the specification leaves a choice: limits and durations, for all tenants or one."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox import clock
from sandbox.catalogue import CATALOGUE
from sandbox.service.models import Settings

#: Key of the settings for every tenant.
ALL_TENANTS = ""
#: The limit for moving the clock, in seconds: ten years.
MAX_CLOCK_SECONDS = 10 * 366 * 24 * 3600
_WEEK = 7 * 24 * 3600
#: The largest count or duration; none may be infinite.
_MAX_NUMBER = 1_000_000_000


class Behaviour(BaseModel):
    """Every setting with its default. Durations are seconds."""

    model_config = ConfigDict(extra="forbid")

    general_limit: int = Field(CATALOGUE.limits.general, ge=0, le=_MAX_NUMBER)
    device_limit: int = Field(CATALOGUE.limits.device, ge=0, le=_MAX_NUMBER)
    window_seconds: float = Field(CATALOGUE.limits.window_seconds, gt=0, le=MAX_CLOCK_SECONDS)
    #: If true, all calls of a window are free again together, a window after its first one. Otherwise each call is free
    #: again a window after itself.
    fixed_windows: bool = False
    #: False: calls are neither limited nor counted (for benchmarks of other things).
    limited: bool = True
    bulk_seconds_per_member: float = Field(0.002, ge=0, le=60)
    #: A bulk request that arrives now ends in `failed` after this many members.
    bulk_fail_after: int | None = Field(None, ge=0, le=_MAX_NUMBER)
    face_seconds: float = Field(2.0, ge=0, le=MAX_CLOCK_SECONDS)
    device_seconds: float = Field(1.0, ge=0, le=MAX_CLOCK_SECONDS)
    relock_seconds: float = Field(5.0, ge=0, le=MAX_CLOCK_SECONDS)
    mock_timeout_seconds: float = Field(10.0, ge=0, le=MAX_CLOCK_SECONDS)
    #: Seconds that a door stays open after a person was admitted.
    door_open_seconds: float = Field(3.0, ge=0, le=MAX_CLOCK_SECONDS)
    #: Seconds after which a taken key returns automatically.
    keys_return_seconds: float = Field(8 * 3600.0, ge=0, le=MAX_CLOCK_SECONDS)
    #: Simulated people per hour who pass a door or use a key.
    passages_per_hour: float = Field(0.0, ge=0, le=3600)
    #: Seconds of video that a tenant may watch and download in a month.
    streaming_limit: float = Field(360_000.0, ge=0, le=_MAX_NUMBER)
    download_limit: float = Field(36_000.0, ge=0, le=_MAX_NUMBER)
    #: Seconds until a log record's video is available, and seconds for which the address of a picture or video is
    #: valid.
    video_lag_seconds: float = Field(8.0, ge=0, le=MAX_CLOCK_SECONDS)
    media_seconds: float = Field(3600.0, gt=0, le=_WEEK)
    #: Whether a reissue ends the old token (the specification does not show it).
    reissue_kills_old: bool = True
    #: Whether a use period may end at the moment at which it begins.
    empty_periods: bool = True
    #: The longest timestep of one-time codes.
    timestep_max: int = Field(CATALOGUE.limits.one_time_timestep_max, ge=1, le=_MAX_NUMBER)
    #: Whether deleting a face image that does not exist succeeds; otherwise it is refused with 404.
    absent_faces_deleted: bool = True
    #: Deletions are answered with 204 and no body.
    mute_deletions: bool = False
    #: The text of a log record is in `member.label`, and `_content` is empty.
    words_in_label: bool = False
    #: Seconds by which the clock was moved.
    clock_offset: float = Field(0.0, ge=-MAX_CLOCK_SECONDS, le=MAX_CLOCK_SECONDS)
    #: Waiting time before every answer of the API, after the work is done.
    request_latency: float = Field(0.0, ge=0, le=120)


#: Defaults of a sandbox in contrary mode that differ.
_CONTRARY: dict[str, Any] = {
    "general_limit": 600,
    "device_limit": 150,
    "fixed_windows": True,
    "reissue_kills_old": False,
    "empty_periods": False,
    "absent_faces_deleted": False,
    "mute_deletions": True,
    "words_in_label": True,
}


_SETTINGS_QUERY = 'SELECT key, "values"::text FROM service_settings WHERE key IN (%s, %s)'


class UnknownSetting(ValueError):
    """A setting that does not exist, or an invalid value; the text names it."""


def defaults() -> Behaviour:
    """Return the defaults, or those of contrary mode."""
    return Behaviour.model_validate(_CONTRARY if settings.CONTRARY else {})


def behaviour_of(tenant_id: str) -> Behaviour:
    """Return the behaviour towards this tenant: its own settings, then those for all tenants, then the defaults."""
    with connection.cursor() as cursor:  # every call of the interface runs it
        cursor.execute(_SETTINGS_QUERY, [ALL_TENANTS, tenant_id])
        rows = {key: json.loads(values) for key, values in cursor.fetchall()}
    defaults = _CONTRARY if settings.CONTRARY else {}
    return Behaviour.model_validate(defaults | rows.get(ALL_TENANTS, {}) | rows.get(tenant_id, {}))


def using_clock_of(tenant_id: str) -> AbstractContextManager[None]:
    """Use this tenant's clock within the block."""
    return clock.shifted(behaviour_of(tenant_id).clock_offset)


@dataclass(frozen=True)
class Clocks:
    """Offsets of the clocks from the real time, in seconds: the common one, and those of tenants with their own."""

    common: float
    by_tenant: dict[str, float]

    def now(self, tenant_id: str) -> datetime:
        """Return the current time of this tenant."""
        return self._real_now() + timedelta(seconds=self.by_tenant.get(tenant_id, self.common))

    def latest(self) -> datetime:
        """Return the current time of the clock that is farthest ahead."""
        return self._real_now() + timedelta(seconds=max([self.common, *self.by_tenant.values()]))

    @staticmethod
    def _real_now() -> datetime:
        with clock.shifted(0):
            return clock.now()


def load_clocks() -> Clocks:
    """Return all clocks at once."""
    rows = dict(Settings.objects.filter(values__has_key="clock_offset").values_list("key", "values__clock_offset"))
    return Clocks(rows.pop(ALL_TENANTS, 0.0), rows)


def save_settings(key: str, values: dict[str, Any]) -> None:
    """Save `values` for this tenant, or for all tenants; null resets a setting to its default.

    Raises UnknownSetting.
    """
    try:
        Behaviour.model_validate({name: value for name, value in values.items() if value is not None})
        if strange := set(values) - set(Behaviour.model_fields):
            raise UnknownSetting(f"no such setting: {', '.join(sorted(strange))}")
    except ValidationError as error:
        first = error.errors()[0]
        raise UnknownSetting(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    with _edit_settings(key) as kept:
        kept |= values


def move_clock(key: str, *, seconds: float | None = None, at: datetime | None = None) -> None:
    """Move this tenant's clock, or the common one, by `seconds` (back, if negative) or to the time `at`.

    With neither, reset it to its default: a tenant's to the common one, the common one to the real time. Raises
    UnknownSetting if it would be too far away.
    """
    with _edit_settings(key) as kept:
        offset: float | None = None
        if seconds is not None:
            offset = behaviour_of(key).clock_offset + seconds
        elif at is not None:
            with clock.shifted(0):
                offset = (at - clock.now()).total_seconds()
        if offset is not None and abs(offset) > MAX_CLOCK_SECONDS:
            raise UnknownSetting("the clock can be moved by ten years at most")
        kept["clock_offset"] = offset


@contextmanager
def _edit_settings(key: str) -> Iterator[dict[str, Any]]:
    """Yield the settings stored under this key, to be changed in place, and save them afterwards.

    The row is locked, so that no other process can change them within the block.
    """
    Settings.objects.get_or_create(key=key)
    with transaction.atomic():
        row = Settings.objects.select_for_update().get(key=key)
        values = dict(row.values)
        yield values
        row.values = {name: value for name, value in values.items() if value is not None}
        row.save()
