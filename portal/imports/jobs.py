"""What makes a job an import: its name, its page, its words, and the dry run that finds out its rows."""

from django.urls import reverse

from portal.core.jobs.kinds import Kind
from portal.core.jobs.models import Job
from portal.imports import checking, models, words
from tenants.roles import Permission
from tenants.wording import Said, say


def _titled(job: Job) -> Said:
    return say("job.import", file=job.title)


def _page(job: Job) -> str:
    return reverse("imports:page", args=[job.tenant.slug, job.pk])


KIND = Kind(
    name=models.KIND,
    permission=Permission.IMPORTS_RUN,
    family="import",
    titled=_titled,
    page=_page,
    check=checking.check,
    words=words.ROWS,
    label=words.label,
)
