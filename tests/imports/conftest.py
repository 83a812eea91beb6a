"""Imports with a real service. Tests run the workers' steps one by one, so that they can stop in between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.domain.events import MirrorKind
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs.models import Job, Row
from portal.domain.people.models import Group, Member
from portal.imports import actions, checking
from tenants.scope import tenant_scope
from tests.support import cached_places, jobs
from tests.support.places import Place

_UNREAD = tuple(kind for kind in MirrorKind if kind not in (MirrorKind.MEMBERS, MirrorKind.GROUPS, MirrorKind.TENANT))


@dataclass
class Desk:
    """A tenant with a person who imports."""

    place: Place

    @property
    def groups(self) -> list[Group]:
        return list(Group.objects.order_by("pk"))

    def sync(self) -> None:
        cached_places.read(self.place, unread=_UNREAD)

    def upload(self, content: bytes | str, name: str = "staff.csv") -> Job:
        data = content.encode() if isinstance(content, str) else content
        return actions.upload(by=self.place.asker, upload=SimpleUploadedFile(name, data))

    def check(
        self,
        job: Job,
        columns: dict[str, int] | None = None,
        default_group: str = "",
        options: dict[str, str] | None = None,
    ) -> Job:
        chosen = job.sheet.columns if columns is None else columns
        by = self.place.asker
        assert actions.choose_columns(by=by, job=job, chosen=chosen, default_group=default_group, options=options)
        checking.check(job.pk)
        job.refresh_from_db()
        return job

    def checked(self, content: bytes | str, **more: Any) -> Job:
        return self.check(self.upload(content), **more)

    def started(self, content: bytes | str, **more: Any) -> Job:
        job = self.checked(content, **more)
        assert job_actions.start(by=self.place.asker, job=job)
        return job

    def step(self, job: Job) -> None:
        """Run one round of the workers."""
        jobs.step(job)

    def run(self, job: Job, seconds: float = 30) -> Job:
        jobs.run(job, seconds)
        return job

    def imported(self, content: bytes | str, **more: Any) -> Job:
        return self.run(self.started(content, **more))

    def rows(self, job: Job) -> list[Row]:
        return list(Row.objects.filter(job=job).order_by("line"))

    def row(self, job: Job, line: int) -> Row:
        return Row.objects.get(job=job, line=line)

    def members(self) -> list[dict[str, Any]]:
        """Return the service's own list, read past the portal."""
        answer = self.place.sandbox.api(
            "GET", "/v1/members", token=self.place.service.token, params={"limit": 1000, "fields": "card_data"}
        )
        return list(answer.json()["members"])

    def calls(self, operation: int) -> int:
        return len(self.place.calls(operation))


@pytest.fixture
def desk(place: Place) -> Any:
    with tenant_scope(place.tenant):
        here = Desk(place)
        here.sync()
        yield here


def lines(headings: Sequence[str], *rows: Sequence[str]) -> str:
    return "\n".join(",".join(row) for row in (headings, *rows)) + "\n"


@pytest.fixture
def somebody(desk: Desk) -> Callable[[], Member]:
    """Return a member who is loaded in the portal."""
    return lambda: Member.objects.exclude(member_code="").order_by("pk")[0]
