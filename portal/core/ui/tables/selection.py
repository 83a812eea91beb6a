"""The rows that a bulk action is for: those ticked, on whatever page, or all that match."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from portal.core.ui.tables.table import Table


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected. `everything`: all that matched; `fields`: hidden inputs that carry it to a next form."""

    queryset: QuerySet[Any]
    everything: bool
    fields: dict[str, str]

    def count(self) -> int:
        return self.queryset.count()


def chosen(request: HttpRequest, table: type[Table], queryset: QuerySet[Any], *, field: str = "pk") -> Selection:
    """The selection posted by the list's bulk form, narrowed from `queryset` and so never beyond it.

    `field` is the model field that `row_id` gives. Ids that are not in `queryset` select nothing.
    """
    if request.POST.get("scope") == "match":
        match = request.POST.get("match", "")
        listed = table(request, queryset, query=QueryDict(match))
        return Selection(listed.matching, True, {"scope": "match", "match": match})
    ids = [*request.POST.getlist("id"), *request.POST.get("ids", "").split(",")]
    ids = [each for each in dict.fromkeys(ids) if each]
    return Selection(queryset.filter(**{f"{field}__in": _valid(queryset, field, ids)}), False, {"ids": ",".join(ids)})


def _valid(queryset: QuerySet[Any], field: str, ids: list[str]) -> list[Any]:
    model_field = queryset.model._meta.pk if field == "pk" else queryset.model._meta.get_field(field)
    found = []
    for each in ids:
        try:
            found.append(model_field.to_python(each))
        except Exception:  # noqa: S112 - every field has errors of its own for what is not a value of it
            continue
    return found
