"""The rows of a prepared edit, as its preview lists them."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from portal.core.jobs.models import Job, Row
from portal.core.jobs.tables import DETAIL, WHO, Rows


class Preview(Rows):
    name = "area-edit-rows"
    caption = _("Members that would be changed")
    columns = (WHO, DETAIL)

    def __init__(self, request: Any, queryset: QuerySet[Row], *, job: Job) -> None:
        super().__init__(request, queryset, job=job, groups={})
