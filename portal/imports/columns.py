"""Find out what columns mean: by the tenant's earlier choice, by the product that exported them, or by the heading.

Headings are guessed only if a wrong guess is harmless. "E-mail" is not guessed for members, because every address in a
QR column is sent a valid QR code. "No." is not guessed, because it often only counts lines.
"""

from collections.abc import Callable, Mapping, Sequence

from django.utils import translation

from portal.base.files.writing import is_portal_list, is_reason_heading
from portal.base.ui.tables.table import Table
from portal.domain.people.fields import heading_key
from portal.imports import sheet_kinds
from portal.imports.models import ColumnChoice
from portal.imports.products import PRODUCTS, find_product


def guess_columns(job_kind: str, headings: Sequence[str]) -> dict[str, int]:
    """Return the column's place for each field. Each field has one; the parts of a name only without the whole name."""
    kind = sheet_kinds.kind_named(job_kind)
    known = {each.name for each in kind.columns}
    keys = ["" if is_reason_heading(heading) else heading_key(heading) for heading in headings]
    chosen = dict(ColumnChoice.objects.filter(kind=job_kind, heading__in=keys).values_list("heading", "field"))
    product = find_product(headings) if kind.has_groups else None
    own = {**product.columns, **chosen} if product else chosen
    general = {key: field for key, field in kind.meanings.items() if key not in own}
    columns: dict[str, int] = {}
    for meanings in (chosen, own, general):
        for place, key in enumerate(keys):
            if key and (field := meanings.get(key, "")) in known:
                columns.setdefault(field, place)
    if is_portal_list(headings):
        columns.pop("status", None)  # there it follows from the period, and would undo a new end of use
    if kind.name_column in columns:
        columns = {name: place for name, place in columns.items() if name not in sheet_kinds.PART_NAMES}
    return columns


def heading_finder(kind: sheet_kinds.SheetKind) -> Callable[[str], bool]:
    """Return a function that returns whether a cell is a heading that the kind or the export of a product has."""
    known = {*kind.meanings, *(key for product in PRODUCTS for key in product.columns)}
    return lambda text: heading_key(text) in known or is_reason_heading(text)


def save_choices(job_kind: str, headings: Sequence[str], columns: Mapping[str, int]) -> None:
    """Save the chosen field for each heading. An empty field means that the column is left out."""
    fields = {place: field for field, place in columns.items()}
    choices = {
        heading_key(heading): fields.get(place, "")
        for place, heading in reversed(list(enumerate(headings)))
        if heading_key(heading) and not is_reason_heading(heading)
    }
    ColumnChoice.objects.bulk_create(
        [ColumnChoice(kind=job_kind, heading=heading, field=field) for heading, field in choices.items()],
        update_conflicts=True,
        unique_fields=["tenant", "kind", "heading"],
        update_fields=["field"],
    )


def unknown_headings(headings: Sequence[str], columns: Mapping[str, int]) -> list[str]:
    """Return the headings of columns that are left out, except the portal's own column of reasons."""
    taken = set(columns.values())
    return [
        name.strip()
        for place, name in enumerate(headings)
        if name.strip() and place not in taken and not is_reason_heading(name)
    ]


def is_export_only(heading: str) -> bool:
    """Return whether a heading is one of the portal's own list of members, which nothing can be imported into."""
    key = heading_key(heading)
    for language in ("en", "ja"):
        with translation.override(language):
            if any(heading_key(str(each.label)) == key for each in Table.registry["members"].columns):
                return True
    return False


def usual_name_order(headings: Sequence[str], columns: Mapping[str, int]) -> str:
    """Return the order of the parts of a name: as in Japan if the headings are Japanese, otherwise given name first."""
    named = [headings[columns[name]] for name in sheet_kinds.PART_NAMES if name in columns]
    return "family" if named and not any(heading.isascii() for heading in named) else "given"


def name_parts(kind: sheet_kinds.SheetKind, columns: Mapping[str, int], order: str) -> tuple[str, ...]:
    """Return the chosen parts of the name in order; none if a column has the whole name."""
    if kind.name_column in columns:
        return ()
    return tuple(name for name in sheet_kinds.NAME_ORDERS.get(order, ()) if name in columns)
