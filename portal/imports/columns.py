"""Which column holds what: guessed from English and Japanese headings, remembered per tenant.

A heading is guessed only where a wrong guess does no harm: a plain "E-mail" is not, because every address in a QR
column is sent a live QR code, nor is a plain "No.", which often just counts lines.
"""

from collections.abc import Mapping, Sequence

from portal.core.files.marks import is_reason
from portal.core.mirror.fields.headings import key, meanings
from portal.core.mirror.fields.members import MEMBER
from portal.imports.models import ColumnChoice

BY_NAME = {cell.name: cell for cell in MEMBER.cells}
_MEANINGS = meanings(MEMBER.cells)


def guess(headings: Sequence[str]) -> dict[str, int]:
    """Field -> column: what the tenant chose before for a heading, else what the heading says. Each field once."""
    keys = [key(heading) for heading in headings]
    chosen = dict(ColumnChoice.objects.filter(heading__in=keys).values_list("heading", "field"))
    found: dict[str, int] = {}
    for remembered in (True, False):
        for place, name in enumerate(keys):
            if not name or is_reason(headings[place]) or (name in chosen) != remembered:
                continue
            field = chosen[name] if remembered else _MEANINGS.get(name, "")
            if field in BY_NAME:
                found.setdefault(field, place)
    return found


def remember(headings: Sequence[str], columns: Mapping[str, int]) -> None:
    """Keep what was chosen for each heading, also that it was left out."""
    fields = {place: field for field, place in columns.items()}
    choices = {
        key(heading): fields.get(place, "")
        for place, heading in reversed(list(enumerate(headings)))
        if key(heading) and not is_reason(heading)
    }
    ColumnChoice.objects.bulk_create(
        [ColumnChoice(heading=heading, field=field) for heading, field in choices.items()],
        update_conflicts=True,
        unique_fields=["tenant", "heading"],
        update_fields=["field"],
    )
