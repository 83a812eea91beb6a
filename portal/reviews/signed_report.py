"""Write the signed report of a review.

It is a ZIP file, written and checked like an export of evidence. `report.json` has the people, the figures and the
outcome; `items.jsonl` has every item with every step, `items.csv` the same for a spreadsheet, and `index.html` works
offline. All figures are counted from the lines in the file.
"""

import csv
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max, Min, Prefetch, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import override

from portal.base.files.writing import escape_formula
from portal.base.storage import store
from portal.base.storage.signed_archive import SignedArchive
from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui.times import local
from portal.domain.people.models import Member
from portal.reviews import lists, queries, rights
from portal.reviews.models import Applied, Decision, Item, Review, RightStatus, State, Step, Use
from tenants import audit
from tenants.models import User, current_tenant
from tenants.sentences import coded_sentence

FORMAT = "access-review-report/1"
# The most items on a page or a printout; the files have all items.
MAX_PRINTED = 2000
_BATCH_SIZE = 1000
# After this time, the worker that writes the report counts as failed.
_WRITE_TIMEOUT = timedelta(minutes=5)
_RETRY_AFTER = timedelta(minutes=1)
_OUTCOME_BY_RIGHT_STATUS: dict[str, str] = {
    RightStatus.LEFT: "no_longer_a_member", RightStatus.NONE: "no_right_any_more",
    RightStatus.UNREAD: "right_not_loaded",
}  # fmt: skip
# Uses before the loaded log (`log_loaded_from`) or before a member's newest records are not known.
_USE_CODES: dict[str, str] = {Use.NEVER: "none_in_log", Use.ELSEWHERE: "none_in_newest_records"}
_COLUMNS = (
    "member_id", "member_code", "member", "group", "area_id", "area", "right", "since", "granted", "last_use", "added",
    "reviewer", "decision", "decided_by", "decided_at", "note", "decided_about", "now", "outcome",
)  # fmt: skip


def write_report(review_id: int) -> None:
    """Write, sign and save the report of a review after its last check.

    Raises the store's errors; a worker then retries.
    """
    ready = Review.objects.filter(pk=review_id, state=State.CLOSING, is_looking=False)
    old = Q(written_from=None) | Q(written_from__lte=database_now() - _WRITE_TIMEOUT)
    if not ready.filter(old).update(written_from=ClockTime(), due_at=ClockTime() + _WRITE_TIMEOUT):
        return
    review = Review.objects.select_related("by", "ended_by", "tenant").get(pk=review_id)
    try:
        with override(review.language), store.FileWriter("application/zip") as file:
            values = _write_into(file, review)
    except store.STORE_ERRORS:
        ready.update(written_from=None, due_at=ClockTime() + _RETRY_AFTER, trouble="store")
        return
    with transaction.atomic():
        if ready.update(state=State.FINISHED, file=file.row, due_at=None, trouble="", **values):
            store.retain(file.row)
            _audit(review, values)


def _audit(review: Review, values: dict[str, Any]) -> None:
    audit.record(
        tenant=current_tenant(),
        by=None,
        by_label=audit.PORTAL_ACTOR,
        action="review.signed",
        target=f"review:{review.pk}",
        summary=coded_sentence("review.signed", title=review.title),
        after={"manifest_sha256": values["manifest"], "key": values["key"]},
    )


def _write_into(file: store.FileWriter, review: Review) -> dict[str, Any]:
    """Write the report's files. Return the values to save with the review."""
    archive, counts, table = SignedArchive(file, local(database_now())), Counter[str](), _CsvTable()
    printed: list[dict[str, Any]] = []

    def add_row(values: dict[str, Any]) -> None:
        table.add(values)
        if len(printed) < MAX_PRINTED:
            printed.append(_page_row(values))

    archive.add("items.jsonl", _lines(review, counts, add_row))
    archive.add("items.csv", table.pieces())
    report = _report_values(review, counts)
    archive.add("report.json", [json.dumps(report, ensure_ascii=False, indent=2).encode()])
    archive.add("index.html", [_page(review, report, printed).encode()])
    manifest, key = archive.close(None)
    return {"report": report, "manifest": manifest, "key": key}


def _page_row(values: dict[str, Any]) -> dict[str, Any]:
    """Return an item as the HTML page in the file shows it."""
    who = values["decided_by"] or {}
    return {
        "name": values["member"], "code": values["member_code"], "area": values["area"], "note": values["note"],
        "right": rights.right_text(values["right"]), "outcome": queries.outcome_text(values["outcome"]),
        "by": who.get("name") or who.get("email", ""),
        "at": datetime.fromisoformat(values["decided_at"]) if values["decided_at"] else None,
        "granted": [
            ((each["by"] or {}).get("name") or (each["by"] or {}).get("email", ""), datetime.fromisoformat(each["at"]))
            for each in values["granted"]
        ],
    }  # fmt: skip


def _page(review: Review, report: dict[str, Any], printed: list[dict[str, Any]]) -> str:
    context = {
        "review": review,
        "report": report,
        "outcomes": queries.outcome_counts(report["counts"]),
        "rows": printed,
        "more": report["counts"]["items"] - len(printed),
        "keys_url": settings.PORTAL_URL + reverse("signing_keys"),
        "check_url": settings.PORTAL_URL + reverse("check_program"),
    }
    return render_to_string("reviews/report_file.html", context)


def outcome_code(item: Item) -> str:
    """Return the outcome of an item as a stable code."""
    if item.applied == Applied.WITHDRAWN:
        return (
            "given_again_after_withdrawal" if item.is_open and item.right_status != RightStatus.UNREAD else "withdrawn"
        )
    if item.right_status in _OUTCOME_BY_RIGHT_STATUS:
        return _OUTCOME_BY_RIGHT_STATUS[item.right_status]
    if item.decision == Decision.NONE or queries.is_void(item):
        return "not_decided"
    if item.is_open:
        return "right_changed_after_decision"
    return "confirmed" if item.decision == Decision.CONFIRM else f"withdrawal_{item.applied or 'not_applied'}"


def _lines(review: Review, counts: Counter[str], add_row: Callable[[dict[str, Any]], None]) -> Iterator[bytes]:
    """Yield every item as a line of JSON. Count the outcomes, and pass each item to `add_row`."""
    steps = Prefetch("steps", Step.objects.select_related("by", "delegation__to").order_by("number"))
    rows = Item.objects.filter(review=review).select_related("reviewer", "decided_by").prefetch_related(steps)
    left = rows.order_by("name_key", "pk").iterator(chunk_size=_BATCH_SIZE)
    while items := list(islice(left, _BATCH_SIZE)):
        for values in _item_values(review, items):
            counts[values["outcome"]] += 1
            add_row(values)
            yield json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _item_values(review: Review, items: list[Item]) -> Iterator[dict[str, Any]]:
    names = review.area_names
    bodies = rights.passes_behind({digest for each in items for digest in (each.decided_digest, each.now_digest)})
    people = User.objects.in_bulk({who for item in items for who, _at in item.granted})
    for item in items:
        item.review = review
        yield {
            "item": item.pk, "member_id": item.member_id, "member": item.name, "member_code": item.code,
            "group": item.group, "area_id": item.area_id, "area": names.get(item.area_id, item.area_id),
            "right": item.right, "added": _at(item.added_at), "added_later": item.is_late,
            "since_after": _at(item.since_from), "since_by": _at(item.since_at),
            "granted": [{"by": _person(people.get(who)), "at": at} for who, at in item.granted],
            "since_in_words": lists.since_text(item),
            "last_use": {
                "how": _USE_CODES.get(item.use, "area"), "day": _at(item.used_on), "anywhere": _at(item.seen_on),
                "in_words": lists.use_text(item),
            },
            "reviewer": _person(item.reviewer), "decision": item.decision or None,
            "decided_by": _person(item.decided_by), "decided_at": _at(item.decided_at), "note": item.note,
            "decided_about": bodies.get(item.decided_digest), "now": bodies.get(item.now_digest),
            "right_status": item.right_status or "same", "outcome": outcome_code(item),
            "steps": [_step(step) for step in item.steps.all()],
        }  # fmt: skip


def _step(step: Step) -> dict[str, Any]:
    to = {"to": _person(step.delegation.to)} if step.delegation else {}
    return {"action": step.action, "by": _person(step.by), "at": _at(step.at), "note": step.note, **to}


def _person(user: User | None) -> dict[str, str] | None:
    return None if user is None else {"name": user.name, "email": user.email}


def _at(moment: datetime | date | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _report_values(review: Review, counts: Counter[str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "tenant": {"name": review.tenant.name, "slug": review.tenant.slug},
        "review": {
            "id": review.pk, "title": review.title, "areas": review.areas, "due_on": review.due_on.isoformat(),
            "started_at": _at(review.started_at), "started_by": _person(review.by), "listed_at": _at(review.listed_at),
            "finished_at": _at(review.ended_at), "finished_by": _person(review.ended_by),
            "log_loaded_from": _at(review.log_from), "members": review.members,
            "members_whose_rights_were_not_loaded": review.missing, **_loaded(review),
        },
        "counts": {"items": counts.total(), **dict(sorted(counts.items()))},
        "reviewers": list(_reviewers(review)),
        "delegations": [
            {"by": _person(each.by), "to": _person(each.to), "at": _at(each.at), "note": each.note, "items": each.items}
            for each in review.delegations.select_related("by", "to").order_by("pk")
        ],
    }  # fmt: skip


def _loaded(review: Review) -> dict[str, str | None]:
    """Return when the rights in the report were read from the service: the oldest and the newest time."""
    people = Item.objects.filter(review=review).values("member_id")
    members = Member.objects.filter(member_id__in=people, gone_at__isnull=True)
    times = members.aggregate(oldest=Min("rights_read_at"), newest=Max("rights_read_at"))
    return {"rights_read_from": _at(times["oldest"]), "rights_read_until": _at(times["newest"])}


def _reviewers(review: Review) -> Iterator[dict[str, Any]]:
    rows = Item.objects.filter(review=review).order_by().values("reviewer")
    tallies = rows.annotate(
        items=Count("pk"),
        confirmed=Count("pk", Q(decision=Decision.CONFIRM)),
        withdrawn=Count("pk", Q(decision=Decision.WITHDRAW)),
        not_decided=Count("pk", Q(is_open=True)),
    )
    people = User.objects.in_bulk([row["reviewer"] for row in tallies if row["reviewer"]])
    for row in sorted(tallies, key=lambda row: row["reviewer"] or 0):
        yield {**row, "reviewer": _person(people.get(row["reviewer"]))}


class _CsvTable:
    """The items as CSV for Excel (with a byte order mark). It is kept compressed until the JSON lines are written."""

    def __init__(self) -> None:
        self._packed, self._pack = io.BytesIO(), zlib.compressobj(1)
        self._write("\ufeff".encode() + _csv(_COLUMNS))

    def add(self, values: dict[str, Any]) -> None:
        """Add one item."""
        self._write(_csv(_cells(values)))

    def pieces(self) -> Iterator[bytes]:
        """Yield the whole table in pieces."""
        self._packed.write(self._pack.flush())
        self._packed.seek(0)
        unpack = zlib.decompressobj()
        while piece := self._packed.read(64 * 1024):
            yield unpack.decompress(piece)
        yield unpack.flush()

    def _write(self, line: bytes) -> None:
        self._packed.write(self._pack.compress(line))


def _cells(values: dict[str, Any]) -> list[Any]:
    plain = dict(values)
    for name in ("right", "now", "decided_about"):
        plain[name] = rights.right_text(values[name]) if values[name] else ""
    plain |= {name: (values[name] or {}).get("email", "") for name in ("reviewer", "decided_by")}
    plain["granted"] = "; ".join(f"{(each['by'] or {}).get('email', '')} {each['at']}" for each in values["granted"])
    plain |= {"since": values["since_in_words"], "last_use": values["last_use"]["in_words"]}
    return [plain[name] for name in _COLUMNS]


def _csv(cells: Any) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow([escape_formula(each) if isinstance(each, str) else each for each in cells])
    return buffer.getvalue().encode()
