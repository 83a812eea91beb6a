"""Rules for every list with pages (specification: "Pagination", "List page size")."""

from typing import Any

from accessapi import limits
from tests.contract.lab import House, patiently
from tests.contract.outcomes import Differs, NotTried
from tests.contract.shapes import Json

#: The field that identifies the items of each list.
IDENTIFIERS = {
    "list_members": "member_id",
    "list_membergroups": "membergroup_id",
    "list_guests": "guest_id",
    "list_histories": "history_id",
}


def page(house: House, name: str, **query: Any) -> tuple[list[str], str | None]:
    """Return the identifiers on one page, and the cursor if there is more. Raises Differs when the page is too long."""
    answer: Json = house.call(name, query=query)
    rows = answer[str(house.lab.catalogue.find(name).list_key)]
    size = query.get("limit", limits.PAGE_DEFAULT)
    if len(rows) > size:
        asked = f"limit={size}" if "limit" in query else f"the default limit of {size}"
        raise Differs(name, f"expected at most {size} items for {asked}, got {len(rows)}")
    return [row[IDENTIFIERS[name]] for row in rows], answer.get("last_evaluated_key") or None


def walk(house: House, name: str, *, pages_max: int = 40, **query: Any) -> tuple[list[str], int]:
    """Return all identifiers, page by page, and the number of pages. Raises Differs when a cursor repeats."""
    found: list[str] = []
    seen: set[str] = set()
    cursor = None
    for number in range(1, pages_max + 1):
        ids, cursor = page(house, name, **query)
        found += ids
        if cursor is None:
            return found, number
        if cursor in seen:
            raise Differs(name, "the same last_evaluated_key came twice: the list never ends")
        seen.add(cursor)
        query["last_evaluated_key"] = cursor
    raise Differs(name, f"after {pages_max} pages of {query.get('limit')} the list of {len(found)} has not ended")


def check_walk(house: House, name: str, **query: Any) -> None:
    """Check that the list page by page is the same as in one page, and that no item comes twice."""

    def check() -> str | None:
        whole, cursor = page(house, name, limit=limits.PAGE_MAX, **query)
        if cursor is not None:
            return _first_pages(house, name, whole, query)
        if len(whole) < 2:
            raise NotTried(name, "a list of one item has no pages")
        size = -(-len(whole) // 3)
        found, pages = walk(house, name, limit=size, **query)
        if len(found) != len(set(found)):
            return f"in pages of {size} an item came twice"
        if set(found) != set(whole):
            missing, added = len(set(whole) - set(found)), len(set(found) - set(whole))
            return f"in pages of {size} ({pages} of them) {missing} items of the list are missing, {added} are new"
        return None

    if found := patiently(check):
        raise Differs(name, found)


def _first_pages(house: House, name: str, whole: list[str], query: Json) -> str | None:
    """Check the first pages of a long list: no item comes twice, and together they are the same as one page."""
    size = limits.PAGE_MAX // 2
    found, cursor = page(house, name, limit=size, **query)
    if cursor is None:
        return f"a page of {size} ends the list, though a page of {limits.PAGE_MAX} does not"
    found += page(house, name, limit=size, last_evaluated_key=cursor, **query)[0]
    if len(found) != len(set(found)):
        return f"in pages of {size} an item came twice"
    if len(found) == len(whole) and set(found) != set(whole):
        return f"two pages of {size} do not hold what one of {limits.PAGE_MAX} holds"
    return None


def check_end(house: House, name: str, **query: Any) -> None:
    """Check that a page with all items has no last_evaluated_key."""

    def check() -> str | None:
        whole, cursor = page(house, name, limit=limits.PAGE_MAX, **query)
        if cursor is not None:
            rest, _ = page(house, name, limit=limits.PAGE_MAX, last_evaluated_key=cursor, **query)
            if not rest:
                return "it carries last_evaluated_key, though nothing follows"
            raise NotTried(name, "the list does not fit on one page")
        if not whole:
            raise NotTried(name, "the list is empty")
        again, cursor = page(house, name, limit=len(whole), **query)
        if len(again) == len(whole) and cursor is not None:
            return f"all {len(whole)} items are on the page, but it carries last_evaluated_key"
        return None

    if found := patiently(check):
        raise Differs(name, found)


def check_default(house: House, name: str, **query: Any) -> None:
    """Check that a page without limit is the same as with limit=100."""

    def check() -> str | None:
        default, more = page(house, name, **query)
        named, more_named = page(house, name, limit=limits.PAGE_DEFAULT, **query)
        if set(default) == set(named) and (more is None) == (more_named is None):
            return None
        return f"expected the same page without limit and with limit=100, got {len(default)} and {len(named)} items"

    if found := patiently(check):
        raise Differs(name, found)


def check_limits(house: House, name: str) -> None:
    """Check that limit is 1 to 1000."""
    page(house, name, limit=limits.PAGE_MIN)
    for size in (limits.PAGE_MIN - 1, limits.PAGE_MAX + 1):
        house.refused(name, f"limit={size}", query=[("limit", str(size))])
