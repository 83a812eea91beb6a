"""Operation 23: histories."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from pydantic import ValidationError

from accessapi import limits
from accessapi.resources.queries import HistoriesQuery
from sandbox import clock, state_words
from sandbox.cameras import arrivals
from sandbox.catalogue import CATALOGUE
from sandbox.errors import invalid
from sandbox.service.models import History

from . import paging
from .call import Call

#: Fields of a record unless `fields` selects from them.
_FIELDS = ("history_id", "datetime", "status", "category", "_content", "member", "device")
#: The only other field that can be named: the camera at the door (assumed). It is always shown if the overrides file
#: has an empty `history_fields`.
_CAMERA = "camera_id"
_DEFAULT_FIELDS = _FIELDS if CATALOGUE.shapes.history_fields else (*_FIELDS, _CAMERA)
_NO_MEMBER = {"id": "", "name": "", "_type": "", "data": "", "label": "", "attribute": ""}
_NO_DEVICE: dict[str, Any] = {"id": "", "name": "", "module": "", "units": []}
_LAST_OF_SECOND = timedelta(microseconds=999_999)


def list_histories(call: Call) -> dict[str, Any]:
    """Return the records of the last year up to now in pages, by their time. A record that arrives late has the time at
    which it happened, so a page may miss it. To miss none, read the time before once more.

    `fields` selects from the default names and camera_id; history_id is always included (assumed). Records without a
    person, device or camera have empty texts there.
    """
    query = call.query("limit", "offset", "since", "until", "sort", "fields", "last_evaluated_key")
    wanted = paging.read_page_request(call, query)
    named = paging.read_field_names(query, (*_FIELDS, _CAMERA)) or _DEFAULT_FIELDS
    rows = _rows(call, _read_query(query), wanted.after)
    # Later pages begin where the earlier one ended, so the offset is already used.
    first = 0 if wanted.after else paging.read_whole_number(query, "offset", 0, 0, limits.HISTORY_OFFSET_MAX)
    shown, next_key = wanted.load_page(rows[first:], key=lambda row: [row.at.isoformat(), row.pk])
    records = [_record(row, named, call.behaviour.words_in_label) for row in shown]
    if _CAMERA in named:
        cameras = arrivals.cameras_at(call.tenant)
        for record, row in zip(records, shown, strict=True):
            record[_CAMERA] = cameras.get((row.device or {}).get("id", ""), "")
    return {"histories": records, **next_key}


def _read_query(query: dict[str, str]) -> HistoriesQuery:
    given = {name: query[name] for name in ("since", "until", "sort") if name in query}
    try:
        return HistoriesQuery.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise invalid(f"{first['loc'][0]}: {first['msg']}") from None


def _rows(call: Call, query: HistoriesQuery, after: Any) -> QuerySet[History]:
    """Return the records in the range of the query.

    Both bounds are inclusive, by whole seconds as the records show them.
    """
    now = clock.now()
    since = now - timedelta(days=limits.HISTORY_RETENTION_DAYS)
    if query.since is not None:
        since = max(since, query.since)
    until = now if query.until is None or query.until >= now else min(now, query.until + _LAST_OF_SECOND)
    rows = History.objects.filter(tenant=call.tenant, held_by="", at__gte=since, at__lte=until)
    rows = rows.order_by("at", "id") if query.sort == "asc" else rows.order_by("-at", "-id")
    return rows.filter(*_after_record(after, query.sort)) if after else rows


def _after_record(after: list[Any], sort: str) -> tuple[Q, Q]:
    """Return conditions for what follows the record (time, id). The first one is for the index."""
    at, pk = datetime.fromisoformat(after[0]), after[1]
    if sort == "asc":
        return Q(at__gte=at), Q(at__gt=at) | Q(id__gt=pk)
    return Q(at__lte=at), Q(at__lt=at) | Q(id__lt=pk)


def _record(row: History, named: Collection[str], words_in_label: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "history_id": row.history_id,
        "datetime": clock.format_moment(row.at),
        "status": state_words.record_status(row.status),
        "category": state_words.record_category(row.category),
        "_content": row.content,
        "member": row.member or _NO_MEMBER,
        "device": row.device or _NO_DEVICE,
    }
    if words_in_label:
        record |= {"_content": "", "member": record["member"] | {"label": row.content}}
    return {name: value for name, value in record.items() if name in named or name == "history_id"}


HANDLERS = {"list_histories": list_histories}
