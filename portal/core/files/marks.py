"""The marks of our own downloads: the column of reasons, and what keeps a cell from being taken for a formula.

A spreadsheet that opens a CSV file works out whatever begins with = + - @ (or a control character before it). In files
that we write such a cell gets an apostrophe in front; in files that are plainly ours, by their column of reasons or by
the headings of the members' export, it is taken off again.
Other people's files are never changed: there, an apostrophe is an apostrophe.
"""

import re

REASONS = {"en": "Reason (left out when imported)", "ja": "理由（取り込み対象外）"}
# Files keep the heading that they were downloaded with: former ones are still ours.
_REASONS = {*REASONS.values(), "理由（取込対象外）"}
# Headings that only our export of members brings together.
EXPORTED = (
    {"Member ID", "Credentials", "Status"},
    {"会員ID", "認証手段", "利用状態"},
    {"Member ID", "Credentials", "Validity"},
    {"会員ID", "認証手段", "有効性"},
)
_RISKY = re.compile(r"'*[=+\-@\t\r\n\v\f＝＋－＠]")


def is_reason(heading: str) -> bool:
    """Whether a heading is that of our column of reasons, in any language."""
    return heading.strip() in _REASONS


def is_ours(headings: list[str]) -> bool:
    """Whether these are the headings of a file that the portal wrote."""
    found = {heading.strip() for heading in headings}
    return any(map(is_reason, headings)) or any(known <= found for known in EXPORTED)


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return "'" + cell if _RISKY.match(cell) else cell


def unguarded(cell: str) -> str:
    """What `guarded` was given."""
    return cell[1:] if cell[:1] == "'" and _RISKY.match(cell, 1) else cell
