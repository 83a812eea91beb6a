"""Query parameters of operations. Unknown names are refused before they cost a call."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from accessapi import limits
from accessapi.resources.sent import Moment, NonEmptyText, SchemaKeywords, SentModel

_CAMERAS_PATTERN = f"^[^,\\u0000]+(,[^,\\u0000]+){{0,{limits.SNAPSHOT_CAMERAS_MAX - 1}}}$"


class ListQuery(SentModel):
    """limit 1 to 1000 (the service's default is 100)."""

    limit: int = Field(default=limits.PAGE_DEFAULT, ge=limits.PAGE_MIN, le=limits.PAGE_MAX)
    last_evaluated_key: NonEmptyText = ""


class FieldsQuery(ListQuery):
    """A list that can add items; `fields` is a comma-separated list of names, not all of them shown."""

    fields: NonEmptyText = ""


class HistoriesQuery(FieldsQuery):
    """since and until are inclusive; offset skips leading records."""

    offset: int = Field(default=0, ge=0, le=limits.HISTORY_OFFSET_MAX)
    since: Moment | None = None
    until: Moment | None = None
    sort: Literal["asc", "desc"] = "desc"


class OneTimeQrQuery(SentModel):
    version: Literal["1"] = "1"


class SnapshotQuery(SentModel):
    """cameras_list: comma-separated camera identifiers, at most 10. Without datetime the latest is returned."""

    cameras_list: Annotated[NonEmptyText, SchemaKeywords(pattern=_CAMERAS_PATTERN)]
    datetime: Annotated[Moment | None, Field()] = None

    @model_validator(mode="after")
    def _few_cameras(self) -> SnapshotQuery:
        cameras = self.cameras_list.split(",")
        if len(cameras) > limits.SNAPSHOT_CAMERAS_MAX:
            raise PydanticCustomError("too_many_cameras", "names more than 10 cameras")
        if not all(cameras):
            raise PydanticCustomError("camera", "holds an empty camera identifier")
        return self


class StreamingQuery(SentModel):
    """Without since and until the live picture; a longer range is cut to 10 minutes from since."""

    since: Moment | None = None
    until: Moment | None = None
