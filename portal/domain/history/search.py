"""Search log records by text, person, device and category, fast for logs of any length.

With row security, PostgreSQL uses no index for array operators on the record's own row, because they are not leakproof
(as in `people/queries.py`). So each record has a row in `HistorySearch` with keyed hashes: of the person, the device,
the category, the status, and every pair of characters of its text. Lists are filtered, sorted and paged there. The
records of a page are then read under row security.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import connection as database
from django.db.models import BooleanField, Func, Q, QuerySet, Value

from portal.domain.history import event_words
from portal.domain.history.models import History, HistorySearch
from portal.domain.history.search_queryset import PiecesMatch, RecordMatch, SearchQuerySet, pieces_match_of
from portal.domain.people.fields import TenantKeys, keyed_hash
from portal.domain.people.queries import contains_folded
from portal.domain.people.refolding import BATCH_SIZE
from portal.domain.people.text_folding import fold, name_search_pieces, stored_forms
from tenants.postgresql.compiled_queries import CompiledQuery
from tenants.scope import current_tenant_id

# The columns of a record that are searched.
SEARCHED_COLUMNS = (
    "status", "category", "content", "member_id", "member_name", "member_label", "member_attribute", "device_id",
    "device_name", "units", "notified",
)  # fmt: skip
_TEXT_COLUMNS = ("content", "member_name", "member_label", "member_attribute", "device_name")
_MAX_TEXT = 600  # only the first characters of a record are searched
_MAX_PAIRS = 100  # pairs of a door and a category in one query
_HAS_PERSON, _NOTIFIED = "=somebody", "=notified"


@dataclass(frozen=True)
class RecordFilter:
    """A filter for records; empty for all. `until` is exclusive. A record must match one value of each set."""

    since: datetime | None = None
    until: datetime | None = None
    member_id: str = ""
    device_ids: Sequence[str] | None = None
    categories: Sequence[str] = ()
    statuses: Sequence[str] = ()
    has_person: bool = False
    is_notified: bool = False
    words: Sequence[str] = field(default_factory=tuple)


class _IsOneOf(Func):
    """The condition that a record's key and moment are among these, given as the texts of two arrays."""

    template = "(id, at) IN (SELECT * FROM unnest(%(expressions)s::timestamptz[]))"
    arg_joiner = "::int8[], "
    output_field = BooleanField()


# Compiled once: with a partition for each month, planning takes longer than reading the records of a page.
_records_query = CompiledQuery[History](
    lambda keys, moments: History.objects.filter(_IsOneOf(Value(keys), Value(moments))), keys="", moments=""
)


def search_rows() -> SearchQuerySet[HistorySearch]:
    """Return the search rows of the entered tenant's records, newest first."""
    return SearchQuerySet(HistorySearch).filter(tenant_id=current_tenant_id()).order_by("-at", "-id")


def newest_record_key() -> tuple[int, datetime] | None:
    """Return the key and time of the entered tenant's newest record, so that pages can check for new records."""
    return next(iter(_newest_query.rows()), None)


_newest_query = CompiledQuery[tuple[int, datetime]](lambda: search_rows().values_list("id", "at")[:1])


def filter_records(found: QuerySet[HistorySearch], record_filter: RecordFilter) -> QuerySet[HistorySearch]:
    """Return the rows of the records that match a filter."""
    number = _hash_function(current_tenant_id())
    if record_filter.since is not None:
        found = found.filter(at__gte=record_filter.since)
    if record_filter.until is not None:
        found = found.filter(at__lt=record_filter.until)
    every = [f"m{record_filter.member_id}"] * bool(record_filter.member_id) + [_NOTIFIED] * record_filter.is_notified
    for word in record_filter.words:
        pieces = set.intersection(*map(name_search_pieces, stored_forms(word)))
        every += ["t" + piece for piece in pieces if len(piece) > 1]
    if every:
        one = {"member_id": record_filter.member_id} if record_filter.member_id else None
        condition = Q(**(one or {}), **({"notified": True} if record_filter.is_notified else {})) & _contains_words(
            record_filter.words
        )
        found = found.filter(PiecesMatch(" @> ", [number(each) for each in every], condition=condition, one=one))
    if record_filter.has_person:  # nearly all records match, so an index would be slower
        somebody = ~Q(member_id="", member_name="")
        found = found.filter(PiecesMatch(" @> ", [number(_HAS_PERSON)], condition=somebody).without_index())
    for name, any_of in (
        ("device_id", record_filter.device_ids),
        ("category", record_filter.categories or None),
        ("status", record_filter.statuses or None),
    ):
        if any_of is not None:
            one = {name: any_of[0]} if name == "device_id" and len(any_of) == 1 else None
            condition = Q(**one) if one else Q(**{f"{name}__in": list(any_of)})
            found = _match_any(found, [name[0] + each for each in any_of], condition, one)
    if record_filter.device_ids is not None or record_filter.categories:
        found = _combine_doors_and_categories(found)
    if long := [word for word in record_filter.words if [len(form) for form in stored_forms(word)] != [2]]:
        found = found.filter(RecordMatch(_contains_words(long), History.objects.all()))
    return found


def _contains_words(words: Sequence[str]) -> Q:
    return Q(*[contains_folded("text_key", word) for word in words])


def _match_any(
    found: QuerySet[HistorySearch], marks: Sequence[str], condition: Q, one: Mapping[str, str] | None
) -> QuerySet[HistorySearch]:
    number = _hash_function(current_tenant_id())
    return found.filter(PiecesMatch(" && ", [number(each) for each in marks], marks, condition, one))


def _combine_doors_and_categories(found: QuerySet[HistorySearch]) -> QuerySet[HistorySearch]:
    """Search for categories at doors by the hashes of their pairs, which are much rarer than each alone."""
    conditions = [(each, pieces.any_names) for each in found.query.where.children if (pieces := pieces_match_of(each))]
    of = {kind: [(each, marks) for each, marks in conditions if marks and marks[0].startswith(kind)] for kind in "dc"}
    if [len(each) for each in of.values()] != [1, 1]:
        return found
    ((doors, at_doors),), ((categories, in_categories),) = of.values()
    if len(at_doors) * len(in_categories) > _MAX_PAIRS:
        return found
    at, within = (pieces_match_of(each) for each in (doors, categories))
    marks = [_pair(door, category) for door in at_doors for category in in_categories]
    found = _match_any(found, marks, at.record_condition & within.record_condition, None)  # type: ignore[union-attr]  # both have pieces, see above
    found.query.where.children = [each for each in found.query.where.children if each not in (doors, categories)]
    return found


def _pair(door: str, category: str) -> str:
    return f"&{door}\n{category}"


def next_record_key() -> int:
    """Return a key that is higher than those of all existing records and lower than those of all later ones."""
    with database.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('history_history', 'id'))")
        key: int = cursor.fetchone()[0]
    return key


def load_records(found: Iterable[Any]) -> list[History]:
    """Return the records for rows of `search_rows()` (objects with `id` and `at`), in the same order."""
    keys_and_times = [(each.id, each.at) for each in found]
    if not keys_and_times:
        return []
    keys, moments = (
        ",".join(map(str, each)) for each in zip(*((key, f'"{at}"') for key, at in keys_and_times), strict=True)
    )
    known = {row.pk: row for row in _records_query.rows(keys=f"{{{keys}}}", moments=f"{{{moments}}}")}
    return [known[key] for key, _ in keys_and_times if key in known]


def find_key_records(key_device_id: str, since: datetime, most: int) -> Iterable[History]:
    """Return the newest records about keys of a key box, the oldest first; at most so many."""
    records = History.objects.filter(device_id=key_device_id, at__gte=since).exclude(units=[])
    return reversed(records.order_by("-at", "-pk")[:most])


def folded_text_of(record: Mapping[str, Any]) -> str:
    """Return the folded text of a record, from its SEARCHED_COLUMNS, with its event in each language."""
    units = record["units"] if isinstance(record["units"], list) else []
    named = [*(record[name] for name in _TEXT_COLUMNS), *(str(unit.get("unit_name", "")) for unit in units)]
    texts = [*event_words.search_words_of(record), *named]
    return "\n".join(filter(None, map(fold, texts)))[:_MAX_TEXT]


def search_entry_of(tenant_id: int, record: Mapping[str, Any]) -> tuple[str, list[int]]:
    """Return the folded text and the hashes by which a record is found, from its SEARCHED_COLUMNS."""
    number, text = _hash_function(tenant_id), folded_text_of(record)
    marks = {f"c{record['category']}", f"s{record['status']}"} | ({_NOTIFIED} if record["notified"] else set())
    if record["device_id"]:
        door, category = f"d{record['device_id']}", f"c{record['category']}"
        marks |= {door, _pair(door, category)}
    if record["member_id"] or record["member_name"]:
        marks |= {f"m{record['member_id']}", _HAS_PERSON}
    pairs = {"t" + line[at : at + 2] for line in text.split("\n") for at in range(len(line) - 1)}
    return text, sorted({number(each) for each in marks | pairs})


def write_search_entries(cursor: Any, rows: Sequence[tuple[int, int, datetime, str, list[int]]]) -> None:
    """Save the search texts and hashes of existing records: (id, tenant_id, at, text, hashes) each."""
    texts = [(key, tenant_id, at, text) for key, tenant_id, at, text, _ in rows]
    cursor.execute(_UPDATE_TEXT, [list(column) for column in zip(*texts, strict=True)])
    add_search_rows(cursor, [(key, tenant_id, at, pieces) for key, tenant_id, at, _, pieces in rows])


def add_search_rows(cursor: Any, rows: Sequence[tuple[int, int, datetime, list[int]]]) -> None:
    """Add search rows for records, given as (id, tenant_id, at, hashes)."""
    keys, tenants, moments, pieces = (list(column) for column in zip(*rows, strict=True))
    cursor.execute(
        _INSERT_SEARCH_ROWS, [keys, tenants, moments, [f"{{{','.join(map(str, each))}}}" for each in pieces]]
    )


_INSERT_SEARCH_ROWS = """
INSERT INTO history_historysearch (id, tenant_id, at, pieces)
SELECT t.id, t.tenant_id, t.at, t.pieces::int4[]
FROM unnest(%s::int8[], %s::int8[], %s::timestamptz[], %s::text[]) AS t (id, tenant_id, at, pieces)
"""
_UPDATE_TEXT = """
UPDATE history_history h SET text_key = t.text_key
FROM unnest(%s::int8[], %s::int8[], %s::timestamptz[], %s::text[]) AS t (id, tenant_id, at, text_key)
WHERE h.id = t.id AND h.at = t.at AND h.tenant_id = t.tenant_id
"""


def anonymise_people(member_ids: Sequence[str]) -> None:
    """Remove names and other personal data from the records about these members and guests."""
    rows = History.objects.filter(member_id__in=member_ids).exclude(member_id="")
    rows.update(member_name="", member_label="", member_attribute="", extra={})
    _rewrite_search_entries(rows)


def fold_records(place: Sequence[Any] | None) -> list[Any] | None:
    """Fold the texts of the records after a place (time and key) again. Return the next place; None if none are left.

    See `people/refolding.py`.
    """
    rows = History.objects.order_by("at", "id")
    if place:
        at, key = place
        rows = rows.filter(Q(at__gt=at) | Q(id__gt=key), at__gte=at)
    found = list(rows.values("id", "at", "text_key", *SEARCHED_COLUMNS)[:BATCH_SIZE])
    outdated = [(row["id"], row["at"]) for row in found if row["text_key"] != folded_text_of(row)]
    if outdated:
        keys, moments = zip(*outdated, strict=True)
        # Locked, because the names may be removed at the same time.
        _rewrite_search_entries(History.objects.filter(id__in=keys, at__in=moments).select_for_update())
    return [found[-1]["at"].isoformat(), found[-1]["id"]] if found else None


def _rewrite_search_entries(rows: QuerySet[History]) -> None:
    found = list(rows.values_list("id", "tenant_id", "at", *SEARCHED_COLUMNS))
    if not found:
        return
    written = [
        (key, tenant_id, at, *search_entry_of(tenant_id, dict(zip(SEARCHED_COLUMNS, values, strict=True))))
        for key, tenant_id, at, *values in found
    ]
    with database.cursor() as cursor:
        remove_search_rows(cursor, [(key, at) for key, _, at, *_ in written])
        write_search_entries(cursor, written)


def remove_search_rows(cursor: Any, gone: Sequence[tuple[int, datetime]]) -> None:
    """Remove the search rows of these records, given as (id, at)."""
    cursor.execute(
        "DELETE FROM history_historysearch s USING unnest(%s::int8[], %s::timestamptz[]) AS g (id, at)"
        " WHERE s.tenant_id = %s AND s.at = g.at AND s.id = g.id",
        [[key for key, _ in gone], [at for _, at in gone], current_tenant_id()],
    )


@lru_cache(maxsize=200)
def _hash_function(tenant_id: int) -> Any:
    """Return a function that hashes a piece to a number with this tenant's key."""
    key = TenantKeys(tenant_id).of("log piece")

    @lru_cache(maxsize=20_000)
    def number(piece: str) -> int:
        return int.from_bytes(keyed_hash(key, piece, 4), "big", signed=True)

    return number
