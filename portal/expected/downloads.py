"""Files to take away: rows to correct, and templates to begin with."""

import re

from django.utils.translation import get_language

from portal.core.files.marks import REASONS, is_reason
from portal.expected import queries, words
from portal.expected.columns import FIELDS
from portal.expected.models import ExpectedList


def failed(job: ExpectedList) -> list[list[str]]:
    """The headings, then the rows that were not issued, with the reason in a last column that uploads leave out."""
    kept = [place for place, heading in enumerate(job.headings) if not is_reason(heading)]
    reason = REASONS["ja" if (get_language() or "").startswith("ja") else "en"]
    lines = [[*(job.headings[place] for place in kept), reason]]
    for row in queries.not_issued(job).order_by("line"):
        cells = (row.content or {}).get("cells", [])
        shown = [cells[place] if place < len(cells) else "" for place in kept]
        lines.append([*shown, "; ".join(words.reasons(row))])
    return lines


def name(job: ExpectedList) -> str:
    stem = re.sub(r"\.(csv|xlsx|tsv|txt)\Z", "", job.name, flags=re.IGNORECASE)
    return f"{stem[:80]}-to-correct"


def template(language: str) -> list[list[str]]:
    """Every heading, and one line to show what goes where."""
    place = 1 if language == "ja" else 0
    return [[field.headings[place] for field in FIELDS], [field.example[place] for field in FIELDS]]
